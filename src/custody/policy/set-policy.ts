import { ApiError } from '#lib/errors'
import { newId } from '#lib/ids'
import { formatInstant } from '#lib/time'
import type { Db } from '#runtime/db/db'
import { recordChanges } from '#runtime/record/store'
import { insertVersion, type PolicyScope } from '../store/policies.ts'
import { findWalletSet } from '../store/wallet-sets.ts'
import { findWallet } from '../store/wallets.ts'
import { parseRules } from './rules.ts'

/** The subject of a policy: the entity itself, or one of its wallet sets or wallets. */
export type PolicySubject = { entityId: string; scope: PolicyScope; subjectId: string }

/** Rules that allow every operation. */
export const permissive = { mode: 'permissive' } as const

type SettingScope = { db: Db; clock: { nowMs(): number }; actor: string }

/**
 * Puts `rules`, as an operator writes them, in force from the next decision on; accepted requests stay accepted. Returns the
 * number of the version, from 1. Throws an error that names each bad field, 156001 or 156005 when there is no such subject.
 */
export async function setPolicy(
  { db, clock, actor }: SettingScope,
  subject: PolicySubject,
  rules: unknown,
): Promise<number> {
  const parsed = parseRules(rules)
  const version = await db.tx(async (tx) => {
    await requireSubject(tx, subject)
    return write(tx, clock.nowMs(), actor, subject, parsed, false)
  })
  return version!
}

/** Gives an entity that never had a policy the permissive one. */
export async function startPermissive(
  { db, clock }: Omit<SettingScope, 'actor'>,
  entityId: string,
): Promise<void> {
  const subject = { entityId, scope: 'entity', subjectId: entityId } as const
  await db.tx((tx) => write(tx, clock.nowMs(), 'sandbox', subject, permissive, true))
}

async function write(
  tx: Db,
  nowMs: number,
  actor: string,
  subject: PolicySubject,
  rules: ReturnType<typeof parseRules>,
  onlyFirst: boolean,
): Promise<number | undefined> {
  const { entityId, subjectId: resourceId, scope } = subject
  const createDate = formatInstant(nowMs)
  const row = { ...subject, id: newId(nowMs), rules, actor, createDate }
  const version = await insertVersion(tx, row, onlyFirst)
  if (version === undefined) return undefined
  await recordChanges(tx, nowMs, [
    { entityId, actor, type: 'policy.set', resourceId, data: { scope, version, rules } },
  ])
  return version
}

async function requireSubject(tx: Db, { entityId, scope, subjectId }: PolicySubject): Promise<void> {
  if (scope === 'walletSet' && !(await findWalletSet(tx, entityId, subjectId)))
    throw new ApiError('walletSetNotFound')
  if (scope === 'wallet' && !(await findWallet(tx, { entityId }, subjectId)))
    throw new ApiError('walletNotFound')
}
