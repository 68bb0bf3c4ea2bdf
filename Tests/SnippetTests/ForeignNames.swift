/// Names that a program has beside CipherDB's where a module is imported that this machine may not have.
enum ForeignNames {
    /// Modules: a type of such a name hides the module, and with it what Swift's macros write.
    static let modules = words(
        """
        AVFoundation Accelerate Accessibility AppIntents AppKit ArgumentParser Charts CloudKit Combine CoreData CoreFoundation
        CoreGraphics CoreImage CoreLocation Crypto CryptoKit Darwin Dispatch Distributed FMDB Foundation FoundationEssentials
        FoundationInternationalization FoundationNetworking GRDB Glibc LocalAuthentication Logging MapKit Metrics Musl NIO
        NaturalLanguage Network OSLog Observation PhotosUI RegexBuilder SQLCipher SQLite SQLite3 Security ServiceLifecycle
        StoreKit Swift SwiftData SwiftUI Synchronization System TabularData Testing TipKit Tracing UIKit UniformTypeIdentifiers
        UserNotifications Vapor WatchKit WebKit WidgetKit XCTest
        """
    )

    /// Names of Combine.
    static let combine = words(
        """
        AnyCancellable AnyPublisher AnySubject AnySubscriber AsyncPublisher AsyncThrowingPublisher Cancellable CombineIdentifier
        ConnectablePublisher CurrentValueSubject CustomCombineIdentifierConvertible Deferred Empty Fail Future ImmediateScheduler
        Just ObservableObject ObservableObjectPublisher PassthroughSubject Published Publisher Publishers Record Result Scheduler
        SchedulerTimeIntervalConvertible Sequence Subject Subscriber Subscribers Subscription Subscriptions TopLevelDecoder
        TopLevelEncoder
        """
    )

    /// Names of SwiftUI and SwiftUICore.
    static let swiftUI = words(
        """
        AccessibilityActionCategory AccessibilityActionKind AccessibilityActivationPoint AccessibilityAdjustmentDirection
        AccessibilityAttachmentModifier AccessibilityChildBehavior AccessibilityCustomContentKey AccessibilityDirectTouchOptions
        AccessibilityFocusState AccessibilityHeadingLevel AccessibilityLabeledPairRole AccessibilityQuickActionOutlineStyle
        AccessibilityQuickActionPromptStyle AccessibilityQuickActionStyle AccessibilityRotorContent
        AccessibilityRotorContentBuilder AccessibilityRotorEntry AccessibilitySystemRotor AccessibilityTechnologies
        AccessibilityTextContentType AccessibilityTraits AccessibilityZoomGestureAction AccessoryCircularCapacityGaugeStyle
        AccessoryCircularGaugeStyle AccessoryLinearCapacityGaugeStyle AccessoryLinearGaugeStyle AccessoryWidgetBackground
        ActionSheet Alert Alignment AlignmentID AlternatingRowBackgroundBehavior Anchor Angle AngularGradient Animatable
        AnimatableModifier AnimatablePair AnimatableValues Animation AnimationCompletionCriteria AnimationContext AnimationState
        AnimationStateKey AnimationTimelineSchedule AnyGesture AnyGradient AnyLayout AnyNavigationTransition AnyShape
        AnyShapeStyle AnyTransition AnyView AnyViewModifier App AppStorage AsyncImage AsyncImagePhase AttributedTextFormatting
        AttributedTextFormattingDefinition AttributedTextSelection AttributedTextValueConstraint AutomaticControlGroupStyle
        AutomaticDisclosureGroupStyle AutomaticFormStyle AutomaticHoverEffect AutomaticImmersionStyle AutomaticLabeledContentStyle
        AutomaticNavigationSplitViewStyle AutomaticNavigationTransition AutomaticTableStyle AutomaticTextEditorStyle
        AutomaticWindowStyle Axis BackgroundDisplayMode BackgroundProminence BackgroundProminenceKey BackgroundStyle
        BackgroundTask BadgeProminence BalancedNavigationSplitViewStyle Bindable Binding BlendMode BlurReplaceTransition
        BorderedButtonMenuStyle BorderedButtonStyle BorderedListStyle BorderedProminentButtonStyle BorderedTableStyle
        BorderlessButtonMenuButtonStyle BorderlessButtonMenuStyle BorderlessButtonStyle BorderlessPullDownMenuButtonStyle
        BoundsAnchorSource Button ButtonBorderShape ButtonMenuStyle ButtonRepeatBehavior ButtonRole ButtonSizing ButtonStyle
        ButtonStyleConfiguration ButtonToggleStyle Canvas Capsule CapsuleButtonBorderShape CarPlayScene CardButtonStyle
        CarouselListStyle CarouselTabViewStyle CheckboxToggleStyle Circle CircularProgressViewStyle ClipboardActions Color
        ColorPicker ColorRenderingMode ColorScheme ColorSchemeContrast ColumnNavigationViewStyle ColumnsFormStyle CommandBuilder
        CommandGroup CommandGroupPlacement CommandMenu Commands CommandsBuilder CompactDatePickerStyle
        CompactMenuControlGroupStyle ConcentricRectangle ConicGradient ContainerBackgroundPlacement ContainerRelativeShape
        ContainerValueKey ContainerValues ContentMarginPlacement ContentMode ContentShapeKinds ContentSizeCategory
        ContentTransition ContentUnavailableView ContextMenu ControlActiveState ControlGroup ControlGroupStyle
        ControlGroupStyleConfiguration ControlSize CoordinateSpace CoordinateSpaceProtocol CubicKeyframe CustomAnimation
        CustomHoverEffect CustomPresentationDetent DatePicker DatePickerComponents DatePickerStyle DatePickerStyleConfiguration
        DefaultButtonLabel DefaultButtonStyle DefaultDatePickerStyle DefaultDateProgressLabel DefaultDocumentGroupLaunchActions
        DefaultFocusEvaluationPriority DefaultGaugeStyle DefaultGlassEffectShape DefaultGroupBoxStyle DefaultLabelStyle
        DefaultListStyle DefaultMenuButtonStyle DefaultMenuStyle DefaultNavigationViewStyle DefaultPickerStyle
        DefaultProgressViewStyle DefaultSettingsLinkLabel DefaultShareLinkLabel DefaultTabLabel DefaultTabViewStyle
        DefaultTextFieldStyle DefaultToggleStyle DefaultToolbarItem DefaultWindowStyle DefaultWindowVisibilityToggleLabel
        DelegatedHoverEffect DepthAlignment DepthAlignmentID DigitalCrownEvent DigitalCrownRotationalSensitivity DisclosureGroup
        DisclosureGroupStyle DisclosureGroupStyleConfiguration DisclosureTableRow DismissAction DismissBehavior
        DismissImmersiveSpaceAction DismissSearchAction DismissWindowAction Divider DocumentConfiguration DocumentGroup
        DocumentGroupLaunchScene DocumentLaunchGeometryProxy DocumentLaunchView DoubleColumnNavigationViewStyle DragConfiguration
        DragGesture DragSession DropConfiguration DropDelegate DropInfo DropOperation DropProposal DropSession DynamicProperty
        DynamicRange DynamicTableRowContent DynamicTypeSize DynamicViewContent Edge EdgeInsets EditActions EditButton EditMode
        EditableCollectionContent Ellipse EllipticalGradient EllipticalListStyle EmptyCommands EmptyHoverEffectContent
        EmptyMatchedTransitionSourceConfiguration EmptyModifier EmptyTableRowContent EmptyView EmptyVisualEffect
        EmptyWidgetConfiguration EnabledTextSelectability Entry Environment EnvironmentKey EnvironmentObject EnvironmentValues
        EnvironmentalModifier EquatableView EveryMinuteTimelineSchedule ExclusiveGesture ExpandedWindowToolbarStyle
        ExplicitTimelineSchedule FetchRequest FetchedResults FileDialogBrowserOptions FileDocument FileDocumentConfiguration
        FileDocumentReadConfiguration FileDocumentWriteConfiguration FillShapeView FillStyle FindContext FittedPresentationSizing
        FixedTextVariant FocusInteractions FocusState FocusedBinding FocusedObject FocusedValue FocusedValueKey FocusedValues Font
        ForEach ForEachSectionCollection ForEachSubviewCollection ForegroundStyle Form FormPresentationSizing FormStyle
        FormStyleConfiguration FrameResizeDirection FrameResizePosition FullImmersionStyle Gauge GaugeStyle
        GaugeStyleConfiguration GeometryEffect GeometryProxy GeometryProxy3D GeometryReader GeometryReader3D Gesture GestureMask
        GestureState GestureStateGesture Glass GlassButtonStyle GlassEffectContainer GlassEffectTransition
        GlassProminentButtonStyle GlobalCoordinateSpace Gradient GraphicalDatePickerStyle GraphicsContext Grid GridItem GridLayout
        GridRow Group GroupBox GroupBoxStyle GroupBoxStyleConfiguration GroupElementsOfContent GroupSectionsOfContent
        GroupedFormStyle GroupedListStyle GroupedTabViewStyle HSplitView HStack HStackLayout HandActivationBehavior
        HandGestureShortcut HelpLink HiddenTitleBarWindowStyle HierarchicalShapeStyle HierarchicalShapeStyleModifier
        HighlightHoverEffect HorizontalAlignment HorizontalDirection HorizontalEdge HoverEffect HoverEffectContent
        HoverEffectGroup HoverEffectPhaseOverride HoverPhase IconOnlyLabelStyle Image ImagePaint ImageRenderer ImmediateScheduler
        ImmersionChangeContext ImmersionStyle ImmersiveContentBrightness ImmersiveEnvironmentBehavior ImmersiveSpace
        ImmersiveSpaceContent ImmersiveSpaceContentBuilder ImmersiveSpaceViewContent ImportFromDevicesCommands IndexViewStyle
        InlinePickerStyle InsetGroupedListStyle InsetListStyle InsetTableStyle InsettableShape InspectorCommands
        InteractiveDismissBehavior InterfaceOrientation ItemProviderTableRowModifier KeyEquivalent KeyPress KeyboardShortcut
        KeyframeAnimator KeyframeTimeline KeyframeTrack KeyframeTrackContent KeyframeTrackContentBuilder Keyframes
        KeyframesBuilder Label LabelStyle LabelStyleConfiguration LabeledContent LabeledContentStyle
        LabeledContentStyleConfiguration LabeledControlGroupContent LabeledToolbarItemGroupContent LabelsVisibility Layout
        LayoutDirection LayoutDirectionBehavior LayoutProperties LayoutRotationUnaryLayout LayoutSubview LayoutSubviews
        LayoutValueKey LazyHGrid LazyHStack LazyVGrid LazyVStack LegibilityWeight LimitedAvailabilityConfiguration
        LinearCapacityGaugeStyle LinearGaugeStyle LinearGradient LinearKeyframe LinearProgressViewStyle Link LinkButtonStyle List
        ListItemTint ListSectionMargins ListSectionSpacing ListStyle LocalCoordinateSpace LocalizedStringKey LongPressGesture
        MagnificationGesture MagnifyGesture MatchedGeometryProperties MatchedTransitionSourceConfiguration Material
        MaterialActiveAppearance Menu MenuActionDismissBehavior MenuBarExtra MenuBarExtraStyle MenuButton MenuButtonStyle
        MenuControlGroupStyle MenuOrder MenuPickerStyle MenuStyle MenuStyleConfiguration MeshGradient MixedImmersionStyle Model3D
        ModifiedContent ModifierGesture MoveCommandDirection MoveKeyframe MoveTransition MultiDatePicker
        NSGestureRecognizerRepresentable NSHostingController NSHostingMenu NSHostingSceneBridgingOptions
        NSHostingSceneRepresentation NSHostingSizingOptions NSHostingView NSViewControllerRepresentable
        NSViewControllerRepresentableContext NSViewRepresentable NSViewRepresentableContext NamedCoordinateSpace Namespace
        NavigationBarDrawerDisplayMode NavigationBarItem NavigationControlGroupStyle NavigationLink NavigationLinkPickerStyle
        NavigationPath NavigationSplitView NavigationSplitViewColumn NavigationSplitViewStyle
        NavigationSplitViewStyleConfiguration NavigationSplitViewVisibility NavigationStack NavigationTransition NavigationView
        NavigationViewStyle NewDocumentAction NewDocumentButton ObservedObject OffsetEffect OffsetShape OffsetTransition
        OnInsertTableRowModifier OpacityRendererEffect OpacityTransition OpenDocumentAction OpenImmersiveSpaceAction
        OpenSettingsAction OpenURLAction OpenWindowAction OrnamentAttachmentAnchor OutlineGroup OutlineSubgroupChildren
        PaddedShape PageIndexViewStyle PagePresentationSizing PageTabViewStyle PagingScrollTargetBehavior PaletteControlGroupStyle
        PalettePickerStyle PaletteSelectionEffect ParallaxHoverEffect PasteButton Path PeriodicTimelineSchedule PhaseAnimator
        Picker PickerStyle PinnedScrollableViews PlaceholderContentView PlaceholderTextShapeStyle PlainButtonStyle PlainListStyle
        PlainTextEditorStyle PlainTextFieldStyle PlainWindowStyle PointerShape PointerStyle PointerVisibility
        PopUpButtonPickerStyle PopoverAttachmentAnchor PreferenceKey PreferredColorSchemeKey PresentationAdaptation
        PresentationBackgroundInteraction PresentationContentInteraction PresentationDetent PresentationMode PresentationSizing
        PresentationSizingContext PresentationSizingRoot PresentedWindowContent PreviewContext PreviewContextKey PreviewDevice
        PreviewLayout PreviewModifier PreviewPlatform PreviewProvider PrimitiveButtonStyle PrimitiveButtonStyleConfiguration
        ProgressView ProgressViewStyle ProgressViewStyleConfiguration ProgressiveImmersionStyle ProjectionTransform
        ProminentDetailNavigationSplitViewStyle ProposedViewSize ProposedViewSize3D PullDownButton PullDownMenuBarExtraStyle
        PushTransition PushWindowAction RadialGradient RadioGroupPickerStyle Rectangle RectangleCornerInsets RectangleCornerRadii
        RedactionReasons ReferenceFileDocument ReferenceFileDocumentConfiguration RefreshAction RemoteDeviceIdentifier
        RemoteImmersiveSpace RenameAction RenameButton ResetFocusAction RotateGesture RotateGesture3D RotatedShape RotationGesture
        RoundedBorderTextEditorStyle RoundedBorderTextFieldStyle RoundedCornerStyle RoundedRectangle RoundedRectangularShape
        RoundedRectangularShapeCorners SafeAreaRegions ScaleTransition ScaledMetric ScaledShape Scene SceneBuilder
        SceneLaunchBehavior ScenePadding ScenePhase SceneRestorationBehavior SceneStorage ScrollAnchorRole ScrollBounceBehavior
        ScrollContentOffsetAdjustmentBehavior ScrollDismissesKeyboardMode ScrollEdgeEffectStyle ScrollGeometry
        ScrollIndicatorVisibility ScrollInputBehavior ScrollInputKind ScrollPhase ScrollPhaseChangeContext ScrollPosition
        ScrollTarget ScrollTargetBehavior ScrollTargetBehaviorContext ScrollTargetBehaviorProperties ScrollTransitionConfiguration
        ScrollTransitionPhase ScrollView ScrollViewProxy ScrollViewReader SearchFieldPlacement SearchPresentationToolbarBehavior
        SearchScopeActivation SearchSuggestionsPlacement SearchUnavailableContent Section SectionCollection SectionConfiguration
        SectionedFetchRequest SectionedFetchResults SecureField SegmentedPickerStyle SelectionShapeStyle SensoryFeedback
        SeparatorShapeStyle SequenceGesture SequencedGesture Settings SettingsLink Shader ShaderFunction ShaderLibrary ShadowStyle
        Shape ShapeRole ShapeStyle ShapeView ShareLink ShareLinkConfiguration SharePreview SidebarCommands SidebarListStyle
        SidebarRowSize SimultaneousGesture SlideTransition Slider SliderTick SliderTickBuilder SliderTickContentForEach Spacer
        SpatialContainer SpatialEventCollection SpatialEventGesture SpatialOverlayLayout SpatialTapGesture Spring SpringKeyframe
        SpringLoadingBehavior SquareBorderTextFieldStyle StackNavigationViewStyle State StateObject Stepper StepperStyle
        StrokeBorderShapeView StrokeShapeView StrokeStyle SubmitLabel SubmitTriggers Subscene SubscriptionView Subview
        SubviewsCollection SubviewsCollectionSlice SurfaceClassification SurfaceSnappingInfo SwitchToggleStyle
        SymbolColorRenderingMode SymbolEffectTrigger SymbolRenderingMode SymbolVariableValueMode SymbolVariants SystemFormatStyle
        Tab TabBarMinimizeBehavior TabBarOnlyTabViewStyle TabBarPlacement TabContent TabContentBuilder TabCustomizationBehavior
        TabPlacement TabRole TabSearchActivation TabSection TabView TabViewBottomAccessoryPlacement TabViewCustomization
        TabViewStyle Table TableCellLayout TableColumn TableColumnAlignment TableColumnBuilder TableColumnContent
        TableColumnCustomization TableColumnCustomizationBehavior TableColumnForEach TableColumnSortComparator TableForEachContent
        TableHeaderRowContent TableOutlineGroupContent TableRow TableRowBuilder TableRowContent TableRowValue TableStyle
        TableStyleConfiguration TapGesture Text TextAlignment TextAttribute TextEditingCommands TextEditor TextEditorStyle
        TextEditorStyleConfiguration TextField TextFieldLink TextFieldStyle TextFormattingCommands TextInputAutocapitalization
        TextInputCompletion TextInputDictationActivation TextInputDictationBehavior TextInputFormattingControlPlacement
        TextInputSuggestions TextProxy TextRenderer TextSelectability TextSelection TextSelectionAffinity TextVariantPreference
        TimeDataSource TimelineSchedule TimelineScheduleMode TimelineView TimelineViewDefaultContext TintShapeStyle
        TitleAndIconLabelStyle TitleBarWindowStyle TitleDisplayMode TitleOnlyLabelStyle Toggle ToggleStyle
        ToggleStyleConfiguration ToolbarCommands ToolbarContent ToolbarContentBuilder ToolbarCustomizationBehavior
        ToolbarCustomizationOptions ToolbarDefaultItemKind ToolbarItem ToolbarItemGroup ToolbarItemPlacement ToolbarLabelStyle
        ToolbarPlacement ToolbarRole ToolbarSpacer ToolbarTitleDisplayMode ToolbarTitleMenu ToolbarVisibility TouchBar
        TouchBarItemPresence Transaction TransactionKey TransformedShape Transition TransitionPhase TransitionProperties
        TranslationPresentation TupleContent TupleTableColumnContent TupleTableRowContent TupleView TypesettingLanguage
        UIApplicationDelegateAdaptor UIGestureRecognizerRepresentable UIHostingConfiguration UIHostingController
        UIHostingControllerSizingOptions UIHostingOrnament UIHostingSceneDelegate UIViewControllerRepresentable
        UIViewControllerRepresentableContext UIViewRepresentable UIViewRepresentableContext UnevenRoundedRectangle
        UnifiedCompactWindowToolbarStyle UnifiedWindowToolbarStyle UnitCurve UnitPoint UnitPoint3D UserInterfaceSizeClass
        UtilityWindow VSplitView VStack VStackLayout VectorArithmetic VerticalAlignment VerticalDirection VerticalEdge
        VerticalPageTabViewStyle View ViewAlignedScrollTargetBehavior ViewBuilder ViewDimensions ViewDimensions3D ViewModifier
        ViewSpacing ViewThatFits Visibility VisualEffect VolumeViewpointUpdateStrategy VolumetricWindowStyle
        WKApplicationDelegateAdaptor WKExtensionDelegateAdaptor WKHostingController WKInterfaceObjectRepresentable
        WKNotificationScene WKUserNotificationHostingController WheelDatePickerStyle WheelPickerStyle Widget WidgetBundle
        WidgetBundleBuilder WidgetConfiguration Window WindowBackgroundDragBehavior WindowDragGesture WindowGroup WindowIdealSize
        WindowInteractionBehavior WindowLayoutRoot WindowLevel WindowManagerRole WindowMenuBarExtraStyle WindowPlacement
        WindowPlacementContext WindowProxy WindowResizability WindowResizeAnchor WindowStyle WindowToolbarFullScreenVisibility
        WindowToolbarStyle WindowVisibilityToggle WindowVisualEffect WorldAlignmentBehavior WorldRecenterPhase
        WorldTrackingLimitation WritingDirectionStrategy WritingToolsBehavior ZStack ZStackLayout ZoomNavigationTransition
        withAnimation withTransaction
        """
    )

    private static func words(_ text: String) -> Set<String> {
        Set(text.split(whereSeparator: \.isWhitespace).map(String.init))
    }
}
