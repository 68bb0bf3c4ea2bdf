// Includes nothing; see module.modulemap.
