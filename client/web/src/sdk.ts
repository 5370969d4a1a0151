import { ErrorCode } from './error-code.ts'
import { openFrame, showFrame } from './frame.ts'
import { defaultPageUrl, pageOriginOf } from './page-url.ts'
import { beginRedirect, LoginFailed, type ProviderToken, takeRedirect } from './redirect-login.ts'
import type * as t from './types.ts'
import { SocialLoginProvider } from './values.ts'
import { version } from './version.ts'

/** Time after which a page that says nothing is reported. */
const silenceMs = 10_000
const questionsRequired = 2

/**
 * Opens the page of users in a frame. There is one object for each window: a second `new` returns the first one and ignores its
 * arguments, which `updateConfigs` replaces.
 */
export class W3SSdk {
  static #only: W3SSdk | undefined

  /** The origin of the page of users. */
  serviceUrl = defaultPageUrl()
  #configs: t.Configs | undefined
  #challenge: t.Challenge | undefined
  #brought: ProviderToken | undefined
  #customizations: t.Customizations = {
    securityQuestions: {
      questions: undefined,
      requiredCount: questionsRequired,
      securityConfirmItems: undefined,
    },
    themeColor: undefined,
    localizations: undefined,
    resources: undefined,
    customLinks: undefined,
  }

  #onComplete: t.ChallengeCompleteCallback | undefined
  #onLoginComplete: t.LoginCompleteCallback | undefined
  #onForgotPin: (() => void) | undefined
  #onResendOtpEmail: (() => void) | undefined
  #onDeviceId: ((deviceId: string) => void) | undefined
  #deviceId: Promise<string> | undefined

  #frame: HTMLIFrameElement | undefined
  #origin = ''
  #silence: ReturnType<typeof setTimeout> | undefined

  constructor(configs?: t.Configs, onLoginComplete?: t.LoginCompleteCallback) {
    // biome-ignore lint/correctness/noConstructorReturn: apps create one wherever they need it, and all share its frame
    if (W3SSdk.#only) return W3SSdk.#only
    W3SSdk.#only = this
    this.updateConfigs(configs, onLoginComplete)
  }

  setAppSettings(appSettings: t.AppSettings): void {
    this.#configs = { ...this.#configs, appSettings }
  }

  setAuthentication(authentication: t.Authentication): void {
    this.#configs = { appSettings: { appId: '' }, ...this.#configs, authentication }
  }

  /** Replaces the configs, and completes the login of a user whom a social provider has sent back. */
  updateConfigs(configs?: t.Configs, onLoginComplete?: t.LoginCompleteCallback): void {
    this.#configs = configs
    this.#onLoginComplete = onLoginComplete ?? this.#onLoginComplete
    if (configs?.serviceUrl !== undefined) this.serviceUrl = configs.serviceUrl
    this.#tryLogin(() => {
      const brought = takeRedirect()
      if (!brought) return
      this.#brought = brought
      this.#open('social/verify-token', false, this.#reportSilentLogin)
    })
  }

  /** The id of this browser at the page, which the server of the app needs to begin a login. Calls at once share a frame. */
  getDeviceId(): Promise<string> {
    this.#deviceId ??= new Promise<string>((resolve, reject: (reason: string) => void) => {
      this.#onDeviceId = resolve
      this.#open('device-id', false, () => {
        this.#end()
        reject('The page of users tells no device id: it does not answer')
      })
    }).finally(() => {
      this.#deviceId = undefined
    })
    return this.#deviceId
  }

  /** Leaves the app for the page of a provider, which sends the user back. */
  async performLogin(provider: SocialLoginProvider): Promise<void> {
    this.#tryLogin(() => {
      if (!Object.values(SocialLoginProvider).includes(provider))
        throw new LoginFailed(`There is no provider ${String(provider)}`)
      location.href = beginRedirect(provider, this.#configs?.loginConfigs)
    })
  }

  /** Asks the user for the code that was mailed. */
  verifyOtp(): void {
    this.#open('social/verify-email', true, this.#reportSilentLogin)
  }

  /** Lets the user approve what the app asks for. */
  execute(challengeId: string, onCompleted?: t.ChallengeCompleteCallback): void {
    this.#challenge = { challengeId }
    this.#onComplete = onCompleted
    this.#open('', false, () => void this.#onComplete?.(silent, undefined))
  }

  setCustomSecurityQuestions(
    questions?: t.SecurityQuestion[] | null,
    requiredCount = questionsRequired,
    securityConfirmItems?: string[],
  ): void {
    const count = requiredCount > 0 ? requiredCount : questionsRequired
    this.#customizations.securityQuestions = { questions, requiredCount: count, securityConfirmItems }
  }

  setLocalizations(localizations: t.Localizations): void {
    this.#customizations.localizations = localizations
  }

  setResources(resources: t.Resources): void {
    this.#customizations.resources = resources
  }

  setThemeColor(themeColor: t.ThemeColor): void {
    this.#customizations.themeColor = themeColor
  }

  setCustomLinks(customLinks: t.CustomLinks): void {
    this.#customizations.customLinks = customLinks
  }

  setOnForgotPin(onForgotPin: () => void, shouldCloseModalOnForgotPin = false): void {
    this.#onForgotPin = () => {
      if (shouldCloseModalOnForgotPin) this.#close()
      onForgotPin?.()
    }
  }

  setOnResendOtpEmail(onResendOtpEmail: () => void): void {
    this.#onResendOtpEmail = onResendOtpEmail
  }

  /** Handles a message of the page: one that its frame sent, from its origin. */
  readonly messageHandler = ({ origin, source, data }: t.PostMessageEvent): void => {
    if (origin !== this.#origin || source === null || source !== this.#frame?.contentWindow) return
    if (typeof data !== 'object' || data === null) return
    clearTimeout(this.#silence)
    if (data.onFrameReady) this.#send()
    else if (data.onForgotPin) this.#onForgotPin?.()
    else if (data.onComplete) {
      this.#close()
      void this.#onComplete?.(undefined, data.result)
    } else if (data.deviceId) {
      this.#end()
      this.#onDeviceId?.(data.deviceId)
    } else if (data.showUi) showFrame(this.#frame)
    else if (data.onSocialLoginVerified) {
      this.#end()
      const { error, result } = data.onSocialLoginVerified
      void this.#onLoginComplete?.(error, result)
    } else if (data.onEmailLoginVerified) {
      const { error, result } = data.onEmailLoginVerified
      if (result && !error) this.#end()
      void this.#onLoginComplete?.(error, result)
    } else if (data.onResendOtpEmail) this.#onResendOtpEmail?.()
    else if (data.onError) void this.#onComplete?.(data.error, undefined)
    else if (data.onClose) this.#end()
  }

  /** Opens a page in place of the one before. */
  #open(path: string, isVisible: boolean, onSilence: () => void): void {
    this.#end()
    this.#origin = pageOriginOf(this.serviceUrl)
    const { protocol, host } = location
    this.#frame = openFrame(`${this.#origin}/${path}?origin=${protocol}//${host}`, isVisible)
    addEventListener('message', this.messageHandler)
    this.#silence = setTimeout(onSilence, silenceMs)
  }

  /** Removes the frame, and stops listening to it. */
  #end(): void {
    this.#close()
    removeEventListener('message', this.messageHandler)
  }

  #close(): void {
    clearTimeout(this.#silence)
    this.#frame?.remove()
    this.#frame = undefined
  }

  /** Sends the page all that it may need. */
  #send(): void {
    const { appSettings, authentication, loginConfigs } = this.#configs ?? {}
    const { deviceToken, deviceEncryptionKey, otpToken } = loginConfigs ?? {}
    const { token, provider } = this.#brought ?? {}
    const w3s = {
      appSettings,
      auth: authentication,
      challenge: this.#challenge,
      customizations: this.#customizations,
      deviceInfo: { model: 'Web', version },
      socialVerification: { token, deviceToken, deviceEncryptionKey, socialLoginProvider: provider },
      emailVerification: { deviceToken, deviceEncryptionKey, otpToken },
    }
    this.#frame?.contentWindow?.postMessage({ w3s }, this.#origin)
  }

  readonly #reportSilentLogin = (): void => void this.#onLoginComplete?.(silent, undefined)

  /** Reports a login that fails before the page is asked. */
  #tryLogin(act: () => void): void {
    try {
      act()
    } catch (error) {
      if (!(error instanceof LoginFailed)) throw error
      const code = ErrorCode.socialLoginProviderAppIDNotMatchError
      void this.#onLoginComplete?.({ code, message: error.message }, undefined)
    }
  }
}

const silent = { code: ErrorCode.networkError, message: 'The page of users does not answer' }
