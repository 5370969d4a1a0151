/** Gives each snippet a button that copies it as it is shown, with the address and the key of this server. */
export function addCopyButtons(): void {
  for (const snippet of document.querySelectorAll('.snippet')) {
    const code = snippet.querySelector('code')!
    const button = document.createElement('button')
    button.type = 'button'
    button.className = 'btn small copy'
    button.textContent = 'Copy'
    button.addEventListener('click', async () => {
      await copyText(code)
      button.textContent = 'Copied'
      setTimeout(() => (button.textContent = 'Copy'), 1_200)
    })
    snippet.append(button)
  }
}

async function copyText(code: HTMLElement): Promise<void> {
  // A page of another machine without https has no clipboard: there the browser copies what is selected.
  if (navigator.clipboard) return navigator.clipboard.writeText(code.textContent ?? '')
  getSelection()?.selectAllChildren(code)
  document.execCommand('copy')
}
