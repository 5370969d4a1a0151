import { randomBytes, scrypt, timingSafeEqual } from 'node:crypto'
import { promisify } from 'node:util'
import { ApiError } from '#lib/errors'
import { createLanes, type Lanes } from '#runtime/scheduling/fair-concurrency'

/** A password as it is stored: its hash by scrypt, with the salt and the cost that made it. */
export type StoredPassword = { passwordSalt: Buffer; passwordHash: Buffer; passwordCost: number }

export const passwordLengthMin = 12
export const passwordLengthMax = 200

/** 32 MiB of memory, and about 80 ms. The cost is stored beside each hash, so that it can rise. */
const costOfNew = 15
const blockSize = 8
const hashBytes = 32

const derive = promisify<Buffer | string, Buffer, number, object, Buffer>(scrypt)

async function hash(password: string, salt: Buffer, cost: number): Promise<Buffer> {
  const count = 2 ** cost
  const options = { N: count, r: blockSize, p: 1, maxmem: 129 * blockSize * count }
  // Keyboards write the same letters in several forms.
  return derive(password.normalize('NFKC'), salt, hashBytes, options)
}

export async function hashPassword(password: string): Promise<StoredPassword> {
  const passwordSalt = randomBytes(16)
  return {
    passwordSalt,
    passwordHash: await hash(password, passwordSalt, costOfNew),
    passwordCost: costOfNew,
  }
}

/** The stored password of an unknown name: comparing with it takes as long as with that of a member. */
const unknown: StoredPassword = {
  passwordSalt: Buffer.alloc(16),
  passwordHash: Buffer.alloc(hashBytes),
  passwordCost: costOfNew,
}

export async function isPassword(password: string, stored: StoredPassword = unknown): Promise<boolean> {
  const given = await hash(password, stored.passwordSalt, stored.passwordCost)
  return timingSafeEqual(given, stored.passwordHash) && stored !== unknown
}

/** Few passwords are hashed at once: strangers may send any number, and each takes memory and a thread. */
export const createPasswordLanes = (): Lanes =>
  createLanes({
    count: 2,
    leavesRoom: false,
    waitingMax: 40,
    waitMs: 5_000,
    crowded: () =>
      new ApiError('tooManyRequests', 'Too many sign-ins are being checked: try again in a few seconds.'),
  })
