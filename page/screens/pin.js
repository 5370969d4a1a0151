import { halves, icon, make } from '../dom.js'
import { post, postError } from '../parent.js'
import { digitFields, revealButton } from '../pin-input.js'
import { errorLine, show } from '../shell.js'
import { equal, wipe } from '../submission.js'
import { headline, own, ownHeadline, say } from '../texts.js'
import { appWords } from '../words.js'

/** The user went back to the screen before. */
export const back = Symbol('back')

/**
 * Asks for six digits, and resolves with their bytes, which the caller wipes. `about` is the request that they approve: the
 * words of the screen are the page's then, and those of the app have their place.
 */
export function askPin({ group, about, error, onBack = false, canForget = false }) {
  return new Promise((resolve) => {
    const line = errorLine()
    const title = about ? ownHeadline(group) : headline(group)
    const words = about ? own : say
    const digits = digitFields({
      label: title.join(' ').trim(),
      isSecret: true,
      onFull: resolve,
      onInput: () => {
        line.show('')
        digits.mark(false)
      },
    })
    show({
      name: group,
      isOwn: Boolean(about),
      title,
      lead: words(group, 'subhead'),
      art: icon('lock'),
      body: [
        about && briefOf(about),
        digits,
        line,
        make('div', { className: 'beside' }, revealButton(digits, words), canForget && forgotButton(words)),
        canForget
          ? undefined
          : make('p', {
              className: 'small',
              textContent: 'Enter it on this page alone, and tell it to nobody.',
            }),
        about && appWords({ texts: ['headline', 'headline2', 'subhead'].map((name) => [group, name]) }),
      ],
      onBack: onBack && (() => resolve(back)),
      focus: digits.first,
    })
    if (!error) return
    line.show(error)
    digits.mark(true)
  })
}

/** What the PIN approves. */
const briefOf = ({ name, to, network }) =>
  make(
    'dl',
    { className: 'summary brief' },
    ...[
      ['This approves', name],
      ['To', to],
      ['Network', network],
    ]
      .filter(([, value]) => value)
      .map(([term, value]) =>
        make(
          'div',
          {},
          make('dt', { textContent: term }),
          make('dd', { className: term === 'To' ? 'mono' : '' }, ...halves(value)),
        ),
      ),
  )

/** Lets the app begin the recovery. The page cannot know whether it does, so it says what to do otherwise. */
export function forgotButton(words = own) {
  const told = make('p', { className: 'small', hidden: true, attributes: { role: 'status' } })
  const button = make('button', {
    type: 'button',
    className: 'plain',
    textContent: words('enterPincode', 'forgotPin'),
    onclick: () => {
      post({ onForgotPin: true })
      told.textContent =
        'The app was told, and should ask for the answers to your security questions now. If nothing happens, close this page and look for “restore PIN” in the app, or ask its support.'
      told.hidden = false
    },
  })
  return make('div', { className: 'forgot' }, button, told)
}

/** A PIN that the user may choose: not one digit six times, and no run upwards or downwards. */
function isStrong(pin) {
  const step = pin[1] - pin[0]
  return Math.abs(step) > 1 || pin.some((digit, index) => index > 0 && digit - pin[index - 1] !== step)
}

const weak = {
  code: 155704,
  message: 'This PIN is easy to guess: do not take one digit six times, or a run such as 123456.',
}
const different = { code: 155703, message: 'The two PINs are different. Choose your PIN again.' }

/** Asks for a new PIN twice, and resolves with its bytes, which the caller wipes. */
export async function choosePin({ group, again, error, onBack = false }) {
  let problem = error
  for (;;) {
    const pin = await askPin({ group, error: problem, onBack })
    if (pin === back) return back
    if (!isStrong(pin)) {
      wipe(pin)
      postError(weak)
      problem = weak.message
      continue
    }
    const second = await askPin({ group: again, onBack: true })
    const isSame = second !== back && equal(pin, second)
    if (isSame) {
      wipe(second)
      return pin
    }
    wipe(pin)
    problem = undefined
    if (second === back) continue
    wipe(second)
    postError(different)
    problem = different.message
  }
}
