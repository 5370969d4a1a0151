/** The texts of the page in English, by the groups and names under which apps translate them. */
const english = {
  common: {
    continue: 'Continue',
    showPin: 'Show PIN',
    hidePin: 'Hide PIN',
    confirm: 'Confirm',
    sign: 'Sign',
    retry: 'Try again',
  },
  initPincode: {
    headline: 'Create your PIN',
    headline2: '',
    subhead: 'Six digits that only you know. You will enter them to approve transactions.',
  },
  confirmInitPincode: {
    headline: 'Enter the PIN again',
    headline2: '',
    subhead: 'To be sure that it is what you meant.',
  },
  enterPincode: {
    headline: 'Enter your PIN',
    headline2: '',
    subhead: 'Your PIN opens the key of your wallet for this request alone.',
    forgotPin: 'Forgot PIN?',
  },
  newPincode: { headline: 'Choose a new PIN', headline2: '', subhead: 'Six digits that only you know.' },
  confirmNewPincode: {
    headline: 'Enter the new PIN again',
    headline2: '',
    subhead: 'To be sure that it is what you meant.',
  },
  recoverPincode: {
    headline: 'Recover your PIN',
    headline2: '',
    subhead: 'Answer your security questions. Capital letters and surplus spaces do not matter.',
    answerInputHeader: 'Answer',
    answerInputPlaceholder: 'Your answer',
  },
  securityIntros: {
    headline: 'Protect your wallet',
    headline2: '',
    description:
      'Next, you choose security questions. If you ever forget your PIN, your answers are the only way to set a new one. Nobody can look them up for you.',
    link: 'Learn more',
  },
  securityQuestions: {
    title: 'Security questions',
    questionHeader: 'Question',
    questionPlaceholder: 'Choose a question',
    requiredMark: 'required',
    answerHeader: 'Answer',
    answerPlaceholder: 'Your answer',
    answerHintHeader: 'Hint (optional)',
    answerHintPlaceholder: 'Shown to you when you recover your PIN',
  },
  securitySummary: { title: 'Check your answers', question: 'Question' },
  securityConfirm: {
    title: 'Before you continue',
    headline: 'Please confirm that you understand',
    inputHeadline: '',
    inputPlaceholder: 'I agree',
    inputMatch: 'I agree',
  },
  socialEmailConfirm: {
    title: 'Save your recovery code',
    headline:
      'It opens your wallet on a new device, or when this browser forgets you. It is shown only this once.',
  },
  transactionRequest: { title: 'Approve a transfer', subtitle: '' },
  contractInteraction: { title: 'Approve a contract call', subtitle: '' },
  signatureRequest: { title: 'Signature request', subtitle: '' },
  emailOtp: {
    title: 'Check your e-mail',
    subtitle: 'Enter the six digits of the code that we sent to you.',
    resendHint: 'No code yet?',
    resend: 'Send another code',
  },
}

let translated = {}

/** Takes the texts of an app in place of the English ones. */
export function translate(localizations) {
  translated = typeof localizations === 'object' && localizations !== null ? localizations : {}
}

/** What an app sent for a name, if it is text. */
export function given(group, name) {
  const text = translated[group]?.[name]
  return typeof text === 'string' && text.trim() !== '' ? text.slice(0, 600) : undefined
}

export const say = (group, name) => given(group, name) ?? english[group]?.[name] ?? ''

/** A label of the app for a value that the server decoded: short, so that it cannot say much else. */
export const label = (group, name, fallback) => given(group, name)?.slice(0, 40) ?? fallback

/** What an app sent in place of values, which is shown beside those of the server and never instead. */
export const groupOf = (name) => (typeof translated[name] === 'object' ? translated[name] : undefined) ?? {}

/** A headline of two parts, of which an app may color the second. */
export const headline = (group) => [
  say(group, 'headline'),
  given(group, 'headline') ? (given(group, 'headline2') ?? '') : say(group, 'headline2'),
]

export const securityItems = [
  'My answers are the only way to recover my PIN.',
  'Nobody can look up my PIN or my answers, the makers of this app included.',
  'Without both, my wallet and everything in it is lost.',
]

export const questions = [
  'What was the name of your first teacher?',
  'In which street did you live when you were ten?',
  'What was the first concert that you went to?',
  'What did you want to become as a child?',
  'Which meal did you cook first?',
  'What was the name of your first pet?',
  'In which town did your parents meet?',
  'What was the first film that you saw in a cinema?',
].map((question) => ({ question, type: 'TEXT' }))
