import { edit, engine, type Mutant, proof } from './mutant.ts'

const follow = `${engine}/follow.ts`
const attempts = `${engine}/store/attempts.ts`
const halted = proof('src/cli/chain.test.ts', 'property 67: a halted chain signs nothing')
const reorgs = proof('src/engines/indexer/reorgs.test.ts', 'property 20')

/** What is made of blocks, and of those that are taken back. */
export const blockMutants: readonly Mutant[] = [
  {
    name: 'first-receipt-is-final',
    about: 'complete at the first confirmation',
    edits: [
      edit(
        follow,
        'tx: Db, { blockchain, completeTo }: Step)',
        'tx: Db, { blockchain, blockNumber: completeTo }: Step)',
      ),
    ],
    test: proof(`${engine}/finality.test.ts`, 'property 20'),
  },
  {
    name: 'inbound-never-undone',
    about: 'what came in an orphaned block stays',
    edits: [edit(follow, 'await failInbound(tx, nowMs, blockchain, blockHash)', '[] as Ref[]')],
    test: proof(`${engine}/reorg.test.ts`, 'property 20: takes back'),
  },
  {
    name: 'postings-never-reversed',
    about: 'the books keep what an orphaned block said',
    edits: [
      edit(
        'src/engines/indexer/apply.ts',
        '    await reverse(tx, ctx.clock.nowMs(), blockchain, head.hash)\n',
        '    void reverse\n',
      ),
    ],
    test: reorgs,
  },
  {
    name: 'parent-unchecked',
    about: 'a block is put on top of whatever was there',
    edits: [
      edit(
        'src/engines/indexer/advance.ts',
        'block.number === number && (parent === undefined || block.parentHash === parent.hash)',
        'block.number === number && (parent === undefined || parent !== undefined)',
      ),
    ],
    test: reorgs,
  },
  {
    name: 'blocks-skipped',
    about: 'after an absence only the newest block is read',
    edits: [
      edit(
        'src/engines/indexer/advance.ts',
        'head ? head.number + 1 :',
        'head ? Math.max(head.number + 1, target.number - 100) :',
      ),
      edit(
        'src/engines/indexer/advance.ts',
        'block.number === number && (parent === undefined || block.parentHash === parent.hash)',
        'block.number === number && (parent === undefined || block.number > parent.number)',
      ),
    ],
    test: proof('src/engines/indexer/follow.test.ts', 'misses no block of those'),
  },
  {
    name: 'complete-is-final',
    about: 'what is complete counts as final, though the node does not call it finalized',
    edits: [
      edit(
        'src/engines/indexer/agree.ts',
        'finalTo: final === undefined ? undefined : Math.min(completeTo, final)',
        'finalTo: final === undefined ? undefined : completeTo',
      ),
    ],
    test: proof(`${engine}/final-tag.test.ts`, 'property 20: what is complete and not yet final'),
  },
  {
    name: 'tag-forgotten',
    about: 'a chain whose nodes stop telling what is finalized falls back to its depth',
    edits: [edit('src/chains/evm/finalized.ts', 'hasTag ||= told.length > 0', 'hasTag = told.length > 0')],
    test: proof(`${engine}/final-tag.test.ts`, 'property 20: without the tag a block is final'),
  },
  {
    name: 'halted-chain-signs',
    about: 'transactions are signed on a halted chain',
    edits: [edit(attempts, ' && !(await isHalted(tx, blockchain))', '')],
    test: halted,
  },
  {
    name: 'halted-chain-sends',
    about: 'what was signed is sent on a halted chain',
    edits: [edit(attempts, 'from halted_chains h where', 'from halted_chains h where false and')],
    test: halted,
  },
  {
    name: 'halted-chain-accepts',
    about: 'transactions are accepted on a halted chain',
    edits: [
      edit(
        `${engine}/submit.ts`,
        "if (await isHalted(db, blockchain)) throw new ApiError('chainHalted')",
        'await isHalted(db, blockchain)',
      ),
    ],
    test: halted,
  },
]
