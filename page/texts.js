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
    answerHintPlaceholder: 'A word that helps you',
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
  emailOtp: {
    title: 'Check your e-mail',
    subtitle: 'Enter the six digits of the code that we sent to you.',
    resendHint: 'No code yet?',
    resend: 'Send another code',
  },
}

/**
 * Most characters of a text of an app, by its name; of any other name, `labelMax`. Texts of an app stand in place of the page's
 * own on screens that show neither a request nor a warning. On the others they stand in the place of the app: see `words.js`.
 */
const labelMax = 40
const limits = {
  title: 60,
  headline: 60,
  subhead: 200,
  subtitle: 200,
  description: 400,
  inputHeadline: 200,
}

let translated = {}

/** Takes the texts of an app. */
export function translate(localizations) {
  translated = typeof localizations === 'object' && localizations !== null ? localizations : {}
}

// Characters without a width, apart from the two that join letters and the one of an emoji, and those that turn a text around.
const silent =
  /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]|(?!\u200c|\u200d|\ufe0f)\p{Default_Ignorable_Code_Point}/gu
// Marks on a letter beyond those that languages use would reach into other lines.
const stacked = /(\p{M}{4})\p{M}+/gu

/** A text of an app in one line, of letters that can be seen; `undefined` where none is left. */
export function tame(text, max) {
  if (typeof text !== 'string') return undefined
  const line = text
    .slice(0, 8 * max)
    .replace(/\s+/gu, ' ')
    .replace(silent, '')
    .replace(stacked, '$1')
    .trim()
  if (!/[\p{L}\p{N}\p{P}]/u.test(line)) return undefined
  const letters = [...line]
  return letters.length > max ? `${letters.slice(0, max - 1).join('')}…` : line
}

/** What an app sent for a name, if it is text. */
export const given = (group, name) => tame(translated[group]?.[name], limits[name] ?? labelMax)

/** The text of the page, which no app replaces. */
export const own = (group, name) => english[group]?.[name] ?? ''

export const say = (group, name) => given(group, name) ?? own(group, name)

/** What an app sent in place of values, which is shown beside those of the server and never instead. */
export const groupOf = (name) => (typeof translated[name] === 'object' ? translated[name] : undefined) ?? {}

/** A headline of two parts, of which an app may color the second. */
export const headline = (group) => [
  say(group, 'headline'),
  given(group, 'headline') ? (given(group, 'headline2') ?? '') : own(group, 'headline2'),
]
export const ownHeadline = (group) => [own(group, 'headline'), own(group, 'headline2')]

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
