/* How the page may look and speak. Every member is optional, and the page shows its own where one is absent. */

type Texts<Name extends string> = { [name in Name]?: string }

export type Common = Texts<'continue' | 'showPin' | 'hidePin' | 'confirm' | 'sign' | 'retry'>
export type NewPincode = Texts<'headline' | 'headline2' | 'subhead'>
export type ConfirmPincode = NewPincode
export type EnterPincode = NewPincode & Texts<'forgotPin'>
export type RecoverPincode = NewPincode & Texts<'answerInputHeader' | 'answerInputPlaceholder'>
export type SecurityConfirm = Texts<
  'title' | 'headline' | 'inputHeadline' | 'inputPlaceholder' | 'inputMatch'
>
export type SecurityIntros = Texts<'headline' | 'headline2' | 'description' | 'link'>
export type SecurityQuestions = Texts<
  | 'title'
  | 'questionHeader'
  | 'questionPlaceholder'
  | 'requiredMark'
  | 'answerHeader'
  | 'answerPlaceholder'
  | 'answerHintHeader'
  | 'answerHintPlaceholder'
>
export type SecuritySummary = Texts<'title' | 'question'>
export type SocialEmailConfirm = Texts<'title' | 'headline'>
export type SignatureRequest = Texts<
  'title' | 'contractName' | 'contractUrl' | 'subtitle' | 'descriptionLabel' | 'description'
>
export type EmailOtp = Texts<'title' | 'subtitle' | 'resendHint' | 'resend'>

type Money = { amount?: string | number; symbol?: string }
type Payment = Texts<
  | 'title'
  | 'subtitle'
  | 'fromLabel'
  | 'from'
  | 'networkFeeLabel'
  | 'networkFeeTip'
  | 'networkFee'
  | 'exchangeNetworkFee'
  | 'totalLabel'
  | 'exchangeTotalValue'
> & { mainCurrency?: Money; exchangeValue?: Money; total?: string[] }

export type TransactionRequest = Payment & Texts<'toLabel' | 'rawTxDescription' | 'rawTx'> & { to?: string[] }

export type ContractInteraction = Payment &
  Texts<'contractAddressLabel'> & {
    contractInfo?: string[]
    dataDetails?: Texts<'dataDetailsLabel'> & {
      callData?: Texts<'callDataLabel' | 'data'>
      abiInfo?: Texts<'functionNameLabel' | 'functionName' | 'parametersLabel'> & { parameters?: string[] }
    }
  }

/** The texts of the page, by screen. */
export type Localizations = {
  common?: Common
  initPincode?: NewPincode
  confirmInitPincode?: ConfirmPincode
  newPincode?: NewPincode
  confirmNewPincode?: ConfirmPincode
  enterPincode?: EnterPincode
  recoverPincode?: RecoverPincode
  securityIntros?: SecurityIntros
  securityQuestions?: SecurityQuestions
  securitySummary?: SecuritySummary
  securityConfirm?: SecurityConfirm
  socialEmailConfirm?: SocialEmailConfirm
  transactionRequest?: TransactionRequest
  contractInteraction?: ContractInteraction
  signatureRequest?: SignatureRequest
  emailOtp?: EmailOtp
}

type ButtonColor = `${'mainBtn' | 'secondBtn' | 'plainBtn'}${'Text' | 'TextDisabled' | 'TextOnHover'}`
type ButtonBackground =
  | `${'mainBtn' | 'plainBtn'}${'Bg' | 'BgOnHover'}`
  | 'mainBtnBgDisabled'
  | `secondBtn${'Border' | 'BorderOnHover' | 'BgOnHover' | 'BorderDisabled'}`
type TextColor =
  | `text${'Main' | 'Main2' | 'Auxiliary' | 'Auxiliary2' | 'Summary' | 'SummaryHighlight'}`
  | `text${'Placeholder' | 'DetailToggle' | 'Interactive'}`
type InputColor =
  | 'inputText'
  | `input${'BorderFocused' | 'BorderFocusedError' | 'Bg' | 'BgDisabled'}`
  | `dropdown${'Bg' | 'BorderIsOpen' | 'BorderError'}`
type PinColor =
  | `pinDot${'Base' | 'BaseBorder' | 'Activated'}`
  | 'enteredPinText'
  | `recoverPinHint${'' | 'Title' | 'TitleBg'}`
type SurfaceColor =
  | 'backdrop'
  | 'divider'
  | 'bg'
  | 'success'
  | 'error'
  | 'interactiveBg'
  | `tooltip${'Text' | 'Bg'}`

/** The colours of the page, as CSS writes them. */
export type ThemeColor = Texts<
  ButtonColor | ButtonBackground | TextColor | InputColor | PinColor | SurfaceColor
> & {
  /** From 0 to 1. */
  backdropOpacity?: number
  titleGradients?: string[]
}

/** Addresses of images, and a font. */
export type Resources = Texts<
  | 'naviClose'
  | 'naviBack'
  | 'securityIntroMain'
  | 'dropdownArrow'
  | 'selectCheckMark'
  | 'securityConfirmMain'
  | 'errorInfo'
  | 'transactionTokenIcon'
  | 'dAppIcon'
  | 'tipIcon'
  | 'emailIcon'
> & { fontFamily?: Texts<'name' | 'url'> }

export type CustomLinks = Texts<'learnMoreUrl'>
