/** `IN_USE`: another process holds the lock. `UNUSABLE`: the directory cannot be made or locked. */
type DirectoryLockErrorCode = 'IN_USE' | 'UNUSABLE'

/** A directory that cannot be locked; its message names the remedy. */
export class DirectoryLockError extends Error {
  readonly code: DirectoryLockErrorCode

  constructor(code: DirectoryLockErrorCode, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause })
    this.name = 'DirectoryLockError'
    this.code = code
  }
}
