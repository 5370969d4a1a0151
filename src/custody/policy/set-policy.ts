import { ApiError, invalid } from '#lib/errors'
import { newId } from '#lib/ids'
import { formatInstant } from '#lib/time'
import { findApiKey } from '#runtime/auth/store'
import type { Db } from '#runtime/db/db'
import { recordChanges } from '#runtime/record/store'
import { insertVersion, type PolicyScope } from '../store/policies.ts'
import { findWalletSet } from '../store/wallet-sets.ts'
import { findWallet } from '../store/wallets.ts'
import { parseRules, type Rules } from './rules.ts'

/** The subject of a policy: the entity itself, or one of its wallet sets, wallets or API keys. */
export type PolicySubject = { entityId: string; scope: PolicyScope; subjectId: string }

/** Rules that allow every operation. */
export const permissive = { mode: 'permissive' } as const

type SettingScope = { db: Db; clock: { nowMs(): number }; actor: string; requestId?: string }

/**
 * Puts `rules`, as an operator writes them, in force from the next decision on; accepted requests stay accepted. Returns the
 * number of the version, from 1. With `replaces`, the number of the version that has to be in force, or 0 for none, throws
 * `policyChanged` where another one is. Throws an error that names each bad field, 156001, 156005 or 404 when there is no such
 * subject, and where the subject is a key that could change its own policy.
 */
export async function setPolicy(
  scope: SettingScope,
  subject: PolicySubject,
  rules: unknown,
  replaces?: number,
): Promise<number> {
  const parsed = parseRules(rules)
  requireApplicable(subject, parsed)
  return scope.db.tx(async (tx) => {
    await requireSubject(tx, subject)
    const version = await write({ ...scope, db: tx }, subject, parsed, replaces)
    if (version === undefined) throw new ApiError('policyChanged')
    return version
  })
}

/** The subject with this id: the entity itself, or one of its wallet sets, wallets or API keys; undefined of another id. */
export async function findSubject(db: Db, entityId: string, id: string): Promise<PolicySubject | undefined> {
  if (id === entityId) return { entityId, scope: 'entity', subjectId: id }
  if (await findWallet(db, { entityId }, id)) return { entityId, scope: 'wallet', subjectId: id }
  if (await findWalletSet(db, entityId, id)) return { entityId, scope: 'walletSet', subjectId: id }
  if (await findApiKey(db, entityId, id, { lock: false })) return { entityId, scope: 'apiKey', subjectId: id }
  return undefined
}

/** Gives an entity that never had a policy the permissive one. */
export async function startPermissive(
  { db, clock }: Omit<SettingScope, 'actor'>,
  entityId: string,
): Promise<void> {
  const subject = { entityId, scope: 'entity', subjectId: entityId } as const
  await db.tx((tx) => write({ db: tx, clock, actor: 'sandbox' }, subject, permissive, 0))
}

async function write(
  { db: tx, clock, actor, requestId }: SettingScope,
  subject: PolicySubject,
  rules: Rules,
  replaces: number | undefined,
): Promise<number | undefined> {
  const { entityId, subjectId: resourceId, scope } = subject
  const nowMs = clock.nowMs()
  const row = { ...subject, id: newId(nowMs), rules, actor, createDate: formatInstant(nowMs) }
  const version = await insertVersion(tx, row, replaces)
  if (version === undefined) return undefined
  const data = { scope, version, rules }
  await recordChanges(tx, nowMs, [{ entityId, actor, requestId, type: 'policy.set', resourceId, data }])
  return version
}

/** Refuses rules about settlements where they would decide nothing: no wallet pays for those. */
function requireApplicable({ scope }: PolicySubject, rules: Rules): void {
  if (rules.mode === 'permissive' || rules.settlements === undefined) return
  if (scope === 'walletSet' || scope === 'wallet')
    throw invalid({
      at: 'rules.settlements',
      reason: 'decides nothing here: give it to the policy of the entity or of an API key',
    })
}

async function requireSubject(tx: Db, { entityId, scope, subjectId }: PolicySubject): Promise<void> {
  if (scope === 'walletSet' && !(await findWalletSet(tx, entityId, subjectId)))
    throw new ApiError('walletSetNotFound')
  if (scope === 'wallet' && !(await findWallet(tx, { entityId }, subjectId)))
    throw new ApiError('walletNotFound')
  if (scope === 'apiKey') await requireBoundKey(tx, entityId, subjectId)
}

async function requireBoundKey(tx: Db, entityId: string, id: string): Promise<void> {
  const key = await findApiKey(tx, entityId, id, { lock: true })
  if (!key) throw new ApiError('apiKeyNotFound')
  if (key.scopes.includes('operator:write'))
    throw invalid({
      at: 'subjectId',
      reason:
        'is an API key with the scope operator:write, which could change its own policy: make a key without that scope',
      value: id,
    })
}
