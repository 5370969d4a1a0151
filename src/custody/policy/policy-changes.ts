import type { Db } from '#runtime/db/db'
import { changesOf } from '#runtime/record/store'
import { type VersionRow, versionsOf } from '../store/policies.ts'

/** One change of the rules for signing: a policy version that came into force, or a freeze that began or ended. */
type PolicyChange =
  | (VersionRow & { change: 'set' })
  | {
      change: 'frozen' | 'unfrozen'
      scope: 'entity' | 'wallet'
      subjectId: string
      actor: string
      createDate: string
    }

const freezes = {
  'entity.frozen': { scope: 'entity', change: 'frozen' },
  'entity.unfrozen': { scope: 'entity', change: 'unfrozen' },
  'wallet.frozen': { scope: 'wallet', change: 'frozen' },
  'wallet.unfrozen': { scope: 'wallet', change: 'unfrozen' },
} as const
type FreezeEvent = keyof typeof freezes

/** Lists the newest `limit` changes, newest first: of one subject by its id, or of the whole entity. */
export async function policyHistory(
  db: Db,
  entityId: string,
  subjectId: string | undefined,
  limit: number,
): Promise<PolicyChange[]> {
  const versions = await versionsOf(db, entityId, subjectId, limit)
  const frozen = await changesOf(db, entityId, Object.keys(freezes) as FreezeEvent[], subjectId, limit)
  const changes: PolicyChange[] = [
    ...versions.map((version) => ({ change: 'set' as const, ...version })),
    ...frozen.map(({ type, ...row }) => ({ ...freezes[type], ...row })),
  ]
  return changes.sort((one, other) => other.createDate.localeCompare(one.createDate)).slice(0, limit)
}
