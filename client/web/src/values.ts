/*
 * The values that a message or a result can have. They are objects and types of one name, so that `SocialLoginProvider.GOOGLE`
 * is a value and `SocialLoginProvider` its type.
 */

type ValueOf<Values> = Values[keyof Values]

export const SocialLoginProvider = { APPLE: 'Apple', FACEBOOK: 'Facebook', GOOGLE: 'Google' } as const
export type SocialLoginProvider = ValueOf<typeof SocialLoginProvider>

export const QuestionType = { DATE: 'DATE', TEXT: 'TEXT' } as const
export type QuestionType = ValueOf<typeof QuestionType>

export const ChallengeStatus = {
  PENDING: 'PENDING',
  IN_PROGRESS: 'IN_PROGRESS',
  COMPLETE: 'COMPLETE',
  FAILED: 'FAILED',
  EXPIRED: 'EXPIRED',
} as const
export type ChallengeStatus = ValueOf<typeof ChallengeStatus>

export const ChallengeType = {
  INITIALIZE: 'INITIALIZE',
  SET_PIN: 'SET_PIN',
  CHANGE_PIN: 'CHANGE_PIN',
  RESTORE_PIN: 'RESTORE_PIN',
  SET_SECURITY_QUESTIONS: 'SET_SECURITY_QUESTIONS',
  CREATE_WALLET: 'CREATE_WALLET',
  CREATE_TRANSACTION: 'CREATE_TRANSACTION',
  CONTRACT_EXECUTION: 'CONTRACT_EXECUTION',
  WALLET_UPGRADE: 'WALLET_UPGRADE',
  ACCELERATE_TRANSACTION: 'ACCELERATE_TRANSACTION',
  CANCEL_TRANSACTION: 'CANCEL_TRANSACTION',
  SIGN_MESSAGE: 'SIGN_MESSAGE',
  SIGN_TYPEDDATA: 'SIGN_TYPEDDATA',
  SIGN_TRANSACTION: 'SIGN_TRANSACTION',
  UNKNOWN: 'UNKNOWN',
} as const
export type ChallengeType = ValueOf<typeof ChallengeType>
