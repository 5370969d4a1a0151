import { icon, make } from '../dom.js'
import { post, postError } from '../parent.js'
import { digitFields, revealButton } from '../pin-input.js'
import { errorLine, show } from '../shell.js'
import { equal, wipe } from '../submission.js'
import { headline, say } from '../texts.js'

/** The user went back to the screen before. */
export const back = Symbol('back')

/** Asks for six digits, and resolves with their bytes, which the caller wipes. */
export function askPin({ group, about, error, onBack = false, canForget = false }) {
  return new Promise((resolve) => {
    const line = errorLine()
    const digits = digitFields({
      label: headline(group).join(' ').trim(),
      isSecret: true,
      onFull: resolve,
      onInput: () => {
        line.show('')
        digits.mark(false)
      },
    })
    show({
      name: group,
      title: headline(group),
      lead: say(group, 'subhead'),
      art: icon('lock'),
      body: [
        about &&
          make('p', { className: 'asks about' }, make('span', { className: 'tag', textContent: about })),
        digits,
        line,
        make('div', { className: 'beside' }, revealButton(digits), canForget && forgotButton(group)),
      ],
      onBack: onBack && (() => resolve(back)),
      focus: digits.first,
    })
    if (!error) return
    line.show(error)
    digits.mark(true)
  })
}

export function forgotButton() {
  return make('button', {
    type: 'button',
    className: 'plain',
    textContent: say('enterPincode', 'forgotPin'),
    onclick: () => post({ onForgotPin: true }),
  })
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
