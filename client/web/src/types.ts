import type { CustomLinks, Localizations, Resources, ThemeColor } from './customizations.ts'
import type { ErrorCode } from './error-code.ts'
import type { ChallengeStatus, ChallengeType, QuestionType, SocialLoginProvider } from './values.ts'

export * from './customizations.ts'
export * from './error-code.ts'
export * from './values.ts'

export type AppSettings = { appId: string }

/** What the server of the app got from a login, or for its user. */
export type Authentication = { userToken: string; encryptionKey: string }

export type GoogleLogin = {
  clientId: string
  redirectUri: string
  /** Whether Google asks which account to use. */
  selectAccountPrompt?: boolean
  /** Another authorization endpoint of OpenID Connect. Default: that of Google. */
  authorizationUrl?: string
}
export type FacebookLogin = { appId: string; redirectUri: string; authorizationUrl?: string }
/** Apple is used by a redirect, as Google is. The members are optional to accept options of Firebase, which log nobody in. */
export type AppleLogin = {
  clientId?: string
  redirectUri?: string
  authorizationUrl?: string
  [option: string]: unknown
}

export type LoginConfigs = {
  google?: GoogleLogin | undefined
  facebook?: FacebookLogin | undefined
  apple?: AppleLogin | undefined
  deviceToken: string
  deviceEncryptionKey: string
  otpToken?: string
}

export type Configs = {
  appSettings: AppSettings
  authentication?: Authentication
  loginConfigs?: LoginConfigs
  /** The origin of the page of users, such as https://pages.example. */
  serviceUrl?: string
}

export type Challenge = { challengeId: string; userSecret?: string }
export type DeviceInfo = { model: string; version: string }
export type SecurityQuestion = { question: string; type: QuestionType }

export type ChallengeResult = { type: ChallengeType; status: ChallengeStatus }
export type SignMessageResult = ChallengeResult & {
  type: 'SIGN_MESSAGE' | 'SIGN_TYPEDDATA'
  data?: { signature: string }
}
export type SignTransactionResult = ChallengeResult & {
  type: 'SIGN_TRANSACTION'
  data?: {
    signature: string
    txHash: string
    signedTransaction: string
    v?: string
    r?: string
    s?: string
  }
}

export type OAuthInfo = {
  provider: SocialLoginProvider
  scope?: string[]
  socialUserUUID?: string
  socialUserInfo?: { email?: string; name?: string; phone?: string }
}
export type SocialLoginResult = Authentication & { refreshToken: string; oAuthInfo: OAuthInfo }
export type EmailLoginResult = Omit<SocialLoginResult, 'oAuthInfo'>

export type Error = { code?: ErrorCode; message: string }

export type ChallengeCompleteCallback = (
  error: Error | undefined,
  result: ChallengeResult | SignMessageResult | SignTransactionResult | undefined,
) => Promise<void> | void

export type LoginCompleteCallback = (
  error: Error | undefined,
  result: SocialLoginResult | EmailLoginResult | undefined,
) => Promise<void> | void

type Verified<Result> = { error?: Error | undefined; result?: Result | undefined }

/** A message of the page: one of its flags is set. */
export type PageMessage = {
  onFrameReady?: boolean
  showUi?: boolean
  onComplete?: boolean
  onError?: boolean
  onClose?: boolean
  onForgotPin?: boolean
  onLearnMore?: boolean
  onResendOtpEmail?: boolean
  onSocialLoginVerified?: Verified<SocialLoginResult>
  onEmailLoginVerified?: Verified<EmailLoginResult>
  deviceId?: string
  error?: Error
  result?: ChallengeResult | SignMessageResult | SignTransactionResult
}
export type PostMessageEvent = MessageEvent<PageMessage>

export type Customizations = {
  securityQuestions: {
    questions: SecurityQuestion[] | null | undefined
    requiredCount: number
    securityConfirmItems: string[] | undefined
  }
  themeColor: ThemeColor | undefined
  localizations: Localizations | undefined
  resources: Resources | undefined
  customLinks: CustomLinks | undefined
}
