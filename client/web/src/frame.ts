/** Over everything else of the app. */
const topmost = '2147483647'

/** Opens a page in a frame. One that is not visible can be shown later. */
export function openFrame(url: string, isVisible: boolean): HTMLIFrameElement {
  const frame = document.createElement('iframe')
  frame.id = 'sdkIframe'
  frame.title = 'Wallet'
  frame.src = url
  if (isVisible) showFrame(frame)
  else {
    frame.width = frame.height = '0%'
    Object.assign(frame.style, { display: 'none', zIndex: '-1' })
  }
  document.body.appendChild(frame)
  return frame
}

/** Lets the frame fill the window. */
export function showFrame(frame: HTMLIFrameElement): void {
  frame.width = frame.height = '100%'
  Object.assign(frame.style, {
    display: '',
    position: 'fixed',
    border: '0',
    zIndex: topmost,
    top: '50%',
    left: '50%',
    transform: 'translate(-50%, -50%)',
  })
}
