import { createHash } from 'node:crypto'
import { unseal } from '#custody/sealing/index'
import { ApiError } from '#lib/errors'
import { systemClock } from '#lib/time'
import { memberCodeKey } from '../contexts.ts'
import type { IdentityCtx } from '../identity.ts'
import { stepOfCode } from './one-time-code.ts'
import { isPassword } from './password.ts'
import { countMemberTry, deleteMemberTries, findMember, type MemberRow, useCodeStep } from './store.ts'

/** The texts that a person types to sign in, and the address that the request came from. */
type SignIn = { name: string; password: string; code?: string | undefined; address: string }

/** Addresses count in this many groups, so that a stranger with any number of them fills no table. */
const addressGroups = 1_024

const groupOf = (address: string): number =>
  createHash('sha256').update(address).digest().readUInt16BE(0) % addressGroups

/**
 * Returns the member of a sign-in, and whether it had a one-time code. A try is counted before it is compared, by member and
 * address, so that guesses at once count as guesses in turn. Runs outside a `tx`: a refused try stays counted.
 */
export async function checkSignIn(
  { database, custody, identity }: IdentityCtx,
  { name, password, code, address }: SignIn,
): Promise<{ member: MemberRow; hasCode: boolean }> {
  const found = await findMember(database, name)
  const member = found?.disabledDate === null ? found : undefined
  const group = groupOf(address)
  if (member && !(await countMemberTry(database, member.id, group))) throw new ApiError('signInPaused')
  const isRight = await identity.passwordLanes.run(address, () => isPassword(password, member))
  if (!member || !isRight) throw new ApiError('signInRefused')
  if (member.codeKey) {
    if (code === undefined) throw new ApiError('signInCodeMissing')
    const key = unseal(custody.vault.root, memberCodeKey(member.id), member.codeKey)
    const step = stepOfCode(key, code, systemClock.nowMs())
    key.fill(0)
    if (step === undefined || !(await useCodeStep(database, member.id, step)))
      throw new ApiError('signInCodeWrong')
  }
  await deleteMemberTries(database, member.id, group)
  return { member, hasCode: member.codeKey !== null }
}
