import { ask, read } from '../api/ask.ts'
import type { Freeze, Policy, PolicyDryRun } from '../api/types.ts'
import { changesBetween } from '../format/changes.ts'
import { plural, wordsOf } from '../format/text.ts'
import type { Action } from './screen.ts'

const permissive = { mode: 'permissive' }

function rulesIn(text = ''): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new Error(`The rules are not JSON: ${(error as Error).message}`)
  }
}

type Start = { subjectId?: string | undefined; rules?: unknown; replacesVersion?: number | undefined }

/** Sets the policy that the item of the page is about; without one, that of a subject to name, which is the entity at first. */
export function setPolicyOf<Item>(startOf: (item: Item) => Start, item: Item): Action<Item> {
  const { subjectId, rules = permissive, replacesVersion } = startOf(item)
  const subjectIn = (values: Record<string, string>) => {
    const named = subjectId ?? values['subjectId']
    return named === undefined ? {} : { subjectId: named }
  }
  return {
    title: 'Set policy',
    icon: 'shield-check',
    about:
      'Rules decide from the next signature on; what was accepted stays accepted. An absent list allows nothing: /docs/policy describes the rules.',
    typed: () => 'set',
    fields: [
      ...(subjectId === undefined
        ? [
            {
              name: 'subjectId',
              title: 'Subject id',
              hint: 'A wallet set or a wallet. Empty: the whole entity.',
              isOptional: true,
            },
          ]
        : []),
      { name: 'rules', title: 'Rules', value: JSON.stringify(rules, null, 2), isLong: true },
      {
        name: 'replacesVersion',
        title: 'Replaces version',
        hint: 'Nothing is set where another version is in force meanwhile; 0 stands for none.',
        isOptional: true,
        ...(replacesVersion !== undefined && { value: String(replacesVersion) }),
      },
    ],
    preview: {
      title: 'Dry run',
      async run(_, values) {
        const body = { ...subjectIn(values), rules: rulesIn(values['rules']), past: 200 }
        const { data } = await ask<PolicyDryRun>('POST', '/operator/policies/dryRun', body)
        return [...judgedLines(data), '', ...comparedLines(data.inForce, body.rules)].join('\n')
      },
    },
    async run(_, values) {
      const { data } = await ask<Policy>('POST', '/operator/policies', {
        ...subjectIn(values),
        rules: rulesIn(values['rules']),
        ...(values['replacesVersion'] !== undefined && {
          replacesVersion: Number(values['replacesVersion']),
        }),
      })
      return { goTo: `/policy/${data.id}`, told: `Version ${data.version} is in force.` }
    },
  }
}

function judgedLines({ past }: PolicyDryRun): string[] {
  if (past.judged === 0) return ['Nothing was signed yet that these rules would have judged.']
  const line = ({ operation, createDate, reason }: PolicyDryRun['past']['refused'][number]) =>
    `  ${createDate}  ${wordsOf(operation)}: ${reason}`
  return [
    `Of the last ${plural(past.judged, 'operation', 'operations')}, ${past.allowed} would have been allowed and ${past.refused.length} refused.`,
    ...past.refused.map(line),
    ...(past.unjudged.length > 0 ? [`Not judged: ${past.unjudged.length}`, ...past.unjudged.map(line)] : []),
  ]
}

function comparedLines(inForce: PolicyDryRun['inForce'], rules: unknown): string[] {
  if (!inForce) return ['No policy of its own is in force.']
  const changes = changesBetween(inForce.rules, rules)
  if (changes.length === 0) return [`The rules are those of version ${inForce.version}, which is in force.`]
  return [
    `Compared with version ${inForce.version}, which is in force:`,
    ...changes.map(({ path, before, after }) => `  ${path}: ${before || 'absent'} → ${after || 'absent'}`),
  ]
}

/** Lists the freeze of the entity alone. */
export const entityFreezePath = '/operator/freezes?scope=entity'

/** Freezes what the page is about: the entity where that has no id. */
export function freezeActs<Item extends { id: string; state?: string } | undefined>(
  noun: 'wallet' | 'entity',
): readonly Action<Item>[] {
  /** Finds the id to unfreeze: that of the wallet, or of the entity by the list of freezes. */
  const frozenId = async (item: Item) => {
    if (item) return item.id
    const [found] = await read<Freeze[]>(entityFreezePath)
    if (!found) throw new Error('The entity is not frozen.')
    return found.id
  }
  const title = (word: string) => (noun === 'entity' ? `${word} the entity` : word)
  return [
    {
      title: title('Freeze'),
      icon: 'lock',
      tone: 'danger',
      isOffered: (item) => item?.state !== 'FROZEN',
      about: `Stops every signature of the ${noun} at once. Accepted transactions wait until it is unfrozen.`,
      typed: () => 'freeze',
      async run(item) {
        await ask('POST', '/operator/freezes', item ? { subjectId: item.id } : {})
        return { told: `The ${noun} is frozen.` }
      },
    },
    {
      title: title('Unfreeze'),
      icon: 'play',
      isOffered: (item) => item === undefined || item.state === 'FROZEN',
      about: `Ends the freeze of the ${noun}: what waits is signed from now on.${noun === 'wallet' ? ' It stays frozen with its entity.' : ''}`,
      typed: () => 'unfreeze',
      async run(item) {
        await ask('DELETE', `/operator/freezes/${await frozenId(item)}`)
        return { told: `The freeze of the ${noun} has ended.` }
      },
    },
  ]
}
