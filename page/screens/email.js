import { icon, make } from '../dom.js'
import { post } from '../parent.js'
import { digitFields } from '../pin-input.js'
import { errorLine, show } from '../shell.js'
import { say } from '../texts.js'
import { pictureOr } from '../theme.js'

/** Asks for the code of the mail, and resolves with its six digits. */
export function askCode({ error }) {
  return new Promise((resolve) => {
    const line = errorLine()
    const digits = digitFields({
      label: say('emailOtp', 'title'),
      isSecret: false,
      onFull: (bytes) => resolve(String.fromCharCode(...bytes)),
      onInput: () => {
        line.show('')
        digits.mark(false)
      },
    })
    const resend = make('button', {
      type: 'button',
      className: 'plain',
      textContent: say('emailOtp', 'resend'),
    })
    const asked = make('p', { className: 'small', hidden: true, attributes: { role: 'status' } })
    resend.onclick = () => {
      post({ onResendOtpEmail: true })
      resend.disabled = true
      asked.textContent =
        'The app was asked for another code. If none comes within a minute, close this page and begin again.'
      asked.hidden = false
      // The app opens the page anew with the token of the next code; where it does not, the user may ask again.
      setTimeout(() => (resend.disabled = false), 30_000)
    }
    show({
      name: 'emailOtp',
      title: say('emailOtp', 'title'),
      lead: say('emailOtp', 'subtitle'),
      art: pictureOr('emailIcon', icon('mail')),
      body: [
        digits,
        line,
        make(
          'div',
          { className: 'beside' },
          make('span', { className: 'small', textContent: say('emailOtp', 'resendHint') }),
          resend,
        ),
        asked,
      ],
      focus: digits.first,
    })
    if (!error) return
    line.show(error)
    digits.mark(true)
  })
}
