/** The keys of users, which they alone open: by a PIN, by answers, or by a device. */

export { type SecretState, secretStatuses } from '../store/user-guesses.ts'
export { openGuessFiles } from './guess-files.ts'
export { overrideLock } from './guesses.ts'
export { type UserKeyState, userKeyStateOf } from './state.ts'
export { type Purpose, purposes, type Submission, sealSubmission } from './submission.ts'
export {
  addDevice,
  addDeviceOfLogin,
  changePin,
  type KeyChange,
  openWithDevice,
  openWithPin,
  restorePin,
  setDevice,
  setLogin,
  setPin,
  setQuestions,
  storeKeyChange,
} from './user-keys.ts'
