import { edit, type Mutant, proof } from './mutant.ts'

const foreign = (title: string) => proof('testing/foreign-database.test.ts', title)
const kept = (title: string) => proof('testing/kept-files.test.ts', title)
const adjust = 'src/engines/treasury/reconciliation/adjust.ts'
const adjusted = (title: string) => proof('src/cli/adjust.test.ts', title)
const retention = 'migrations/0032_retention.sql'
const pruned = (title: string) => proof('src/engines/indexer/prune.test.ts', `property 71: ${title}`)
const health = (title: string) => proof('testing/health.test.ts', `property 60: ${title}`)

/** Starts that are refused, commands that correct and remove, and what operators are told. */
export const operatorMutants: readonly Mutant[] = [
  {
    name: 'sandbox-anywhere',
    about: 'a sandbox begins on a database that holds what it did not make',
    edits: [edit('src/sandbox/own-database.ts', 'if (relations.length > 0)', 'if (relations.length < 0)')],
    test: foreign('leaves a database alone'),
  },
  {
    name: 'migrates-anywhere',
    about: 'the tables are made in a database of another program',
    edits: [
      edit(
        'src/runtime/db/migrate.ts',
        'if (isOurs || relations.length === 0) return',
        'if (isOurs || relations.length >= 0) return',
      ),
    ],
    test: foreign('is refused by every command'),
  },
  {
    name: 'newer-tables-ignored',
    about: 'an older version runs on the tables of a newer one',
    edits: [
      edit(
        'src/runtime/db/migrate.ts',
        'if (unknown.length === 0) return',
        'if (unknown.length >= 0) return',
      ),
    ],
    test: foreign('property 68: a version that is older'),
  },
  {
    name: 'other-chain-used',
    about: 'an endpoint of another chain is read and sent to',
    edits: [edit('src/chains/evm/inspect.ts', 'if (given !== chainId)', 'if (given !== given)')],
    test: foreign('is refused by name while others serve'),
  },
  {
    name: 'tokens-uninspected',
    about: 'an endpoint without the contract of a listed token is used',
    edits: [edit('src/chains/evm/inspect.ts', "codes[index] === '0x'", "codes[index] === ''")],
    test: foreign('is refused by name while others serve'),
  },
  {
    name: 'sandbox-key-serves',
    about: 'the key of the sandbox, which everybody knows, works where a sandbox once ran',
    edits: [edit('src/cli/serve.ts', '  config.refusedEntityId = sandboxEntity.id\n', '  void config\n')],
    test: foreign('is refused by name while others serve'),
  },
  {
    name: 'root-key-made-anew',
    about: 'a new root key is made beside a database that was sealed with another one',
    edits: [edit('src/sandbox/start.ts', 'if (!found && isKnown)', 'if (!found && !isKnown && isKnown)')],
    test: kept('no new root key is made'),
  },
  {
    name: 'damage-is-a-beginning',
    about: 'a journal whose seen.json is damaged is taken for one that saw nothing yet',
    edits: [
      edit(
        'src/engines/transactions/journal/seen.ts',
        '  } catch {\n    throw new JournalError(',
        '  } catch {\n    if (text) return undefined\n    throw new JournalError(',
      ),
    ],
    test: kept('a damaged journal and a damaged seen.json'),
  },
  {
    name: 'port-asked-late',
    about: 'the data directory is begun before it is known whether the port is free',
    edits: [edit('src/sandbox/start.ts', '  await requirePort(apiAddress(config))\n', '')],
    test: kept('creates nothing when the port is taken'),
  },
  {
    name: 'gap-of-now',
    about: 'whatever the gap is by now is booked, and not the one that was shown',
    edits: [edit('src/cli/adjust.ts', 'if (found.id !== shown.id) throw new GapChanged()', '')],
    test: adjusted('a gap that changes between the question and the answer'),
  },
  {
    name: 'adjusted-twice',
    about: 'a gap that another operator has closed is closed again',
    edits: [
      edit(adjust, 'if (!(await holdGaps(tx, proof))) throw new GapChanged()', 'await holdGaps(tx, proof)'),
      edit(adjust, '    await requireMoneyGaps(tx, plan)\n', '    void requireMoneyGaps\n'),
    ],
    test: adjusted('of many operators with one plan, one books it'),
  },
  {
    name: 'pruned-to-the-head',
    about: 'blocks are removed that are not final',
    edits: [
      edit(
        retention,
        'select least(s.final_to, coalesce(s.complete_to, s.final_to)) into kept_from',
        'select s.block_number into kept_from',
      ),
    ],
    test: pruned('removes old blocks and steps in batches'),
  },
  {
    name: 'unfollowed-pruned',
    about: 'steps are removed that an engine has not followed',
    edits: [edit(retention, 'select min(c.step) into followed', 'select max(c.step) into followed')],
    test: pruned('keeps what is young'),
  },
  {
    name: 'alarm-uncounted',
    about: 'an alarm is in the log alone',
    edits: [edit('src/runtime/log/alarms.ts', '  counts.set(alarm, counts.get(alarm)! + 1)\n', '')],
    test: health('each alarm is counted'),
  },
  {
    name: 'ready-while-halted',
    about: 'a platform with a halted chain calls itself ready',
    edits: [
      edit(
        'src/api/operator/show-readiness.ts',
        "parts.chains.every(({ state }) => state === 'following')",
        "parts.chains.every(({ state }) => state === 'following' || state === 'halted')",
      ),
    ],
    test: health('a chain that is halted'),
  },
]
