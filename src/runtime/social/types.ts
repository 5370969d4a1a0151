/** The providers that clients name. */
export const socialProviderNames = ['Google', 'Facebook', 'Apple'] as const
export type SocialProviderName = (typeof socialProviderNames)[number]

/** A provider with which the users of one entity log in. */
export type SocialProvider = {
  entityId: string
  provider: SocialProviderName
  /** The issuer of its ID tokens. Of Facebook, the base URL of its Graph API. */
  issuer: string
  /** The ids under which the provider knows the apps of this entity. */
  clientIds: string[]
  /** The secret of the app, with which access tokens are inspected: for Facebook alone. */
  appSecret?: string
}

/** A person as a provider knows them: an issuer gives each person one subject. */
export type SocialIdentity = {
  issuer: string
  subject: string
  email: string | undefined
  name: string | undefined
  phone: string | undefined
  /** Of an ID token, which begins one session: the hash that it is recognised by, and the end of its life. */
  used?: { sha256: Buffer; expireMs: number }
}

/** The provider of OpenID Connect that members of the console sign in with, and this server's registration there. */
export type SignInProvider = { issuer: string; clientId: string; clientSecret: string }
