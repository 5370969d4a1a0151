/**
 * Errors in words for the user. The app is told the code and the server's own message, which are for its programs; a code that
 * is not listed here is shown with that message.
 */
const again = 'Go back to the app and begin again.'

const reasons = {
  3: 'The site that opened this page may not do so. Ask the support of the app.',
  155103: `Your session has ended. ${again}`,
  155104: `Your session has ended. ${again}`,
  155105: `Your session is not valid here. ${again}`,
  155109: 'Your account is switched off. Ask the support of the app.',
  155110: 'You have no PIN yet. Go back to the app to set one.',
  155113: 'This device does not open your wallet yet. Go back to the app and log in again.',
  155116: `This request is gone, or it is not yours. ${again}`,
  155117: `This page and the request do not fit together. ${again}`,
  155118: `This page and your session do not fit together. ${again}`,
  155121: `This request has expired, and nothing was done. ${again}`,
  155122: `This request has ended, and cannot be approved any more. ${again}`,
  155130: 'This code is too old. Ask for another one.',
  155131: 'This code was used already, or is too old. Ask for another one.',
  155133: 'A code has six digits. Compare it with the e-mail.',
  155134: 'This is not the code from the e-mail.',
  155141: 'Too many codes were entered for your address. Try again in an hour.',
  155142: 'Too many codes were sent to your address. Try again in an hour.',
  155143: `The login took too long. ${again}`,
  155144: `The login is not valid here. ${again}`,
  155145: `The login was used already, or begun anew elsewhere. ${again}`,
  155146: 'This was the third wrong entry, so the code works no more. Ask for another one.',
  155201: 'Your wallet has too few coins for this. Nothing was sent.',
  155264: 'Too many of your transactions are still on their way. Try again when some have arrived.',
  155501: 'Your wallet is frozen. Ask the support of the app.',
  155517: 'Your wallet is not ready for this yet: send something from it first.',
  155718: `The app did not say who you are. ${again}`,
  155900: 'The rules of the app do not allow this. Nothing was sent.',
  155901: 'This recipient cannot be paid. Nothing was sent.',
  156017: 'This network is not available now. Try again later.',
  177022: 'The app has paid for as much gas as it does in a day. Try again later.',
}

/** The message of the server names how many tries are left; the sentence for the user says it in its own words. */
function triesLeft(message) {
  const [, left] = /(\d+) more (?:try|tries)/.exec(message) ?? []
  return left ? ` ${left === '1' ? 'One more try is' : `${left} more tries are`} left.` : ''
}

export const reasonOf = ({ code, message }) =>
  code === 155134 ? reasons[code] + triesLeft(message) : (reasons[code] ?? message)
