import { make } from './dom.js'
import { say } from './texts.js'

const length = 6

/**
 * Six fields of one digit that behave as one. `onFull` is called with the digits as bytes when the last one is there; the
 * fields are empty then. Digits are those of ASCII: others look alike and are not the same.
 */
export function digitFields({ label, isSecret, onFull, onInput = () => {} }) {
  const fields = Array.from({ length }, (_, index) => field(index, label, isSecret))
  const group = make(
    'div',
    { className: `digits ${isSecret ? 'secret' : ''}`, attributes: { role: 'group', 'aria-label': label } },
    ...fields,
  )

  const full = () => fields.every(({ value }) => value !== '')
  const submit = () => {
    if (!full()) return
    const bytes = Uint8Array.from(fields, ({ value }) => value.charCodeAt(0))
    clear()
    onFull(bytes)
  }
  const clear = () => {
    for (const each of fields) each.value = ''
  }
  const spread = (text, from) => {
    const digits = text.replace(/[^0-9]/g, '').slice(0, length - from)
    for (const [index, digit] of [...digits].entries()) fields[from + index].value = digit
    if (digits) onInput()
    fields[Math.min(from + digits.length, length - 1)].focus()
    submit()
  }

  for (const [index, each] of fields.entries()) {
    each.oninput = () => {
      const text = each.value
      each.value = ''
      spread(text, index)
    }
    each.onpaste = (event) => {
      event.preventDefault()
      const digits = event.clipboardData.getData('text').replace(/[^0-9]/g, '')
      spread(digits, digits.length === length ? 0 : index)
    }
    each.onfocus = () => each.select()
    each.onkeydown = (event) => {
      if (event.key === 'Enter') submit()
      const target = stepOf(event.key, index, each.value)
      if (target === undefined) return
      event.preventDefault()
      if (event.key === 'Backspace') fields[target].value = ''
      fields[target].focus()
    }
  }

  return Object.assign(group, {
    clear,
    begin: () => fields[0].focus(),
    first: fields[0],
    reveal: (on) => {
      for (const each of fields) each.type = on ? 'text' : 'password'
    },
    mark: (isWrong) => {
      group.classList.toggle('wrong', isWrong)
      for (const each of fields) each.setAttribute('aria-invalid', String(isWrong))
    },
  })
}

/** The field that a key leads to. */
function stepOf(key, index, value) {
  if (key === 'Backspace') return value === '' ? Math.max(index - 1, 0) : index
  if (key === 'ArrowLeft') return Math.max(index - 1, 0)
  if (key === 'ArrowRight') return Math.min(index + 1, length - 1)
  if (key === 'Home') return 0
  if (key === 'End') return length - 1
  return undefined
}

function field(index, label, isSecret) {
  const isCode = !isSecret && index === 0
  return make('input', {
    type: isSecret ? 'password' : 'text',
    inputMode: 'numeric',
    // A code that the device offers is entered whole into the first field.
    maxLength: isCode ? length : 1,
    autocomplete: isCode ? 'one-time-code' : 'off',
    spellcheck: false,
    attributes: {
      'aria-label': `${label}: digit ${index + 1} of ${length}`,
      'data-1p-ignore': '',
      'data-lpignore': 'true',
    },
  })
}

/** The switch that shows the digits of a PIN. */
export function revealButton(digits, words = say) {
  const button = make('button', {
    type: 'button',
    className: 'plain',
    textContent: words('common', 'showPin'),
  })
  let isShown = false
  button.onclick = () => {
    isShown = !isShown
    digits.reveal(isShown)
    button.textContent = words('common', isShown ? 'hidePin' : 'showPin')
    digits.begin()
  }
  return button
}
