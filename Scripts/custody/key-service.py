"""Serves Barbican, OpenStack's key manager, on a port of this machine: key-service.py DIRECTORY PORT.

The directory has barbican.conf. There is no Keystone, which would check tokens: the headers of a request say whose it is.
"""

import sys
from wsgiref.simple_server import make_server

from barbican.common import config
from paste.urlmap import URLMap

directory, port = sys.argv[1], int(sys.argv[2])
config.CONF([], project="barbican", default_config_files=[directory + "/barbican.conf"])

# They read the configuration.
from barbican.api import app  # noqa: E402
from barbican.api.middleware.context import UnauthenticatedContextMiddleware  # noqa: E402

services = URLMap()
services["/v1"] = UnauthenticatedContextMiddleware(app.create_main_app({}))
with make_server("127.0.0.1", port, services) as server:
    server.serve_forever()
