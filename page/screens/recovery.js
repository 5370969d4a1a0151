import { freshId, icon, make } from '../dom.js'
import { secretOf } from '../recovery-code.js'
import { errorLine, mainButton, show, speak } from '../shell.js'
import { own } from '../texts.js'
import { appWords } from '../words.js'

/** Shows the recovery code once, and resolves when the user has saved it. */
export function showRecoveryCode({ code, isKept }) {
  return new Promise((resolve) => {
    const id = freshId('saved')
    const text = make('p', {
      className: 'recovery',
      tabIndex: 0,
      textContent: code,
      attributes: { 'aria-label': `Recovery code: ${[...code].join(' ')}`, role: 'group' },
    })
    const main = mainButton(own('common', 'continue'), () => resolve(), { disabled: true })
    const saved = make('input', { id, type: 'checkbox', onchange: () => (main.disabled = !saved.checked) })
    show({
      name: 'recoveryCode',
      isOwn: true,
      title: own('socialEmailConfirm', 'title'),
      lead: own('socialEmailConfirm', 'headline'),
      art: icon('key'),
      body: [
        text,
        make('div', { className: 'beside' }, copyButton(text)),
        ...(isKept
          ? []
          : [
              make(
                'div',
                { className: 'warning' },
                icon('alert'),
                make('span', {
                  textContent: 'This browser keeps no data for this page: you will need the code each time.',
                }),
              ),
            ]),
        make(
          'label',
          { className: 'tick', htmlFor: id },
          saved,
          make('span', { textContent: 'I have saved the code in a safe place.' }),
        ),
        appWords({ texts: ['title', 'headline'].map((name) => ['socialEmailConfirm', name]) }),
      ],
      foot: [main],
    })
  })
}

/** Sites may forbid frames to write to the clipboard; the selection is copied then. */
function copyButton(text) {
  const button = make(
    'button',
    { type: 'button', className: 'second' },
    icon('copy'),
    make('span', { textContent: 'Copy' }),
  )
  button.onclick = async () => {
    getSelection().selectAllChildren(text)
    const isCopied = await navigator.clipboard.writeText(text.textContent).then(
      () => true,
      () => document.execCommand('copy'),
    )
    button.lastChild.textContent = isCopied ? 'Copied' : 'Selected: copy it by hand'
    speak(button.lastChild.textContent)
  }
  return button
}

/** Asks for the recovery code, and resolves with the secret in it, which the caller wipes. */
export function askRecoveryCode({ error }) {
  return new Promise((resolve) => {
    const id = freshId('code')
    const line = errorLine()
    const read = async () => {
      const secret = await secretOf(entry.value)
      if (!secret) return line.show('This is not a whole recovery code: compare it letter by letter.')
      entry.value = ''
      resolve(secret)
    }
    const main = mainButton(own('common', 'continue'), read, { disabled: true })
    const entry = make('textarea', {
      id,
      rows: 4,
      maxLength: 200,
      autocomplete: 'off',
      autocapitalize: 'characters',
      spellcheck: false,
      className: 'mono',
      placeholder: 'XXXX-XXXX-…',
      oninput: () => {
        line.show('')
        main.disabled = entry.value.replace(/[\s-]/g, '').length < 56
      },
      attributes: { 'data-1p-ignore': '', 'data-lpignore': 'true' },
    })
    show({
      name: 'addDevice',
      isOwn: true,
      title: 'This device is new',
      lead: 'Enter the recovery code that you saved when your wallet was made. It stays yours: you can use it again.',
      art: icon('key'),
      body: [
        make(
          'div',
          { className: 'field' },
          make('label', { htmlFor: id, textContent: 'Recovery code' }),
          entry,
        ),
        line,
      ],
      foot: [main],
      focus: entry,
    })
    line.show(error)
  })
}
