// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the edits quote code
import { edit, type Mutant, proof } from './mutant.ts'

const engine = 'src/engines/unified-balance'
const follow = `${engine}/follow.ts`
const spend = (title: string) => proof('src/api/unified-balance/spend.test.ts', title)
const refusals = (title: string) => proof('src/api/unified-balance/refusals.test.ts', title)
const finality = (title: string) => proof('src/api/unified-balance/finality.test.ts', title)

export const unifiedBalanceMutants: readonly Mutant[] = [
  {
    name: 'unified-deposit-at-once',
    about: 'a deposit counts before its block is final',
    edits: [
      edit(
        `${engine}/store/movements.ts`,
        'and block_number <= ${finalTo} order',
        'and ${finalTo} is not null order',
      ),
    ],
    test: finality('a deposit is pending'),
  },
  {
    name: 'unified-withdrawal-late',
    about: 'a withdrawal that has started can be spent',
    edits: [
      edit(
        follow,
        "if (kind === 'withdrawalInitiated') movement.countedAtomic = -amountAtomic",
        "if (kind === 'withdrawalCompleted') movement.countedAtomic = -amountAtomic",
      ),
    ],
    test: spend('never takes what a withdrawal took'),
  },
  {
    name: 'unified-withdrawing-twice',
    about: 'a burn out of a withdrawal is deducted a second time',
    edits: [edit(follow, 'amountAtomic + feeAtomic - fromWithdrawingAtomic', 'amountAtomic + feeAtomic')],
    test: spend('never takes what a withdrawal took'),
  },
  {
    name: 'unified-expired-early',
    about: 'a reservation returns although the last block of its attestation is to come',
    edits: [
      edit(
        `${engine}/store/transfers.ts`,
        't.expiration_block < ${finalTo}',
        't.expiration_block <= ${finalTo} + 1',
      ),
    ],
    test: spend('that is not minted up to its last block'),
  },
  {
    name: 'unified-overdraft',
    about: 'parallel transfers take more than there is',
    edits: [
      edit(
        `${engine}/store/balances.ts`,
        'set available = available - ${String(atomic)}::numeric',
        'set available = greatest(available - ${String(atomic)}::numeric, 0)',
      ),
      edit(
        `${engine}/store/balances.ts`,
        'and depositor = ${depositor} and available >= ${String(atomic)}::numeric',
        'and depositor = ${depositor}',
      ),
    ],
    test: refusals('parallel transfers never take more'),
  },
  {
    name: 'unified-any-signer',
    about: 'an account that is no delegate signs for a depositor',
    edits: [
      edit(`${engine}/verify.ts`, 'if (signer === depositor) return', 'if (signer !== undefined) return'),
    ],
    test: refusals('that others signed'),
  },
  {
    name: 'unified-spec-again',
    about: 'a specification becomes part of two transfers',
    edits: [
      edit(`${engine}/attest-transfer.ts`, 'if (inserted.fresh < intents.length)', 'if (inserted.fresh < 0)'),
    ],
    test: refusals('never attested in another composition'),
  },
  {
    name: 'unified-contract-by-one-endpoint',
    about: 'one endpoint answers for the contract that signs',
    edits: [
      edit(
        'src/chains/evm/unified-balance/contract-signatures.ts',
        "if (verdict !== 'accepted' || rpc.agreeing === 1) return verdict",
        "if (verdict !== 'accepted' || rpc.agreeing > 0) return verdict",
      ),
    ],
    test: proof(`${engine}/contract-signers.test.ts`, 'alone does not answer for a contract'),
  },
  {
    name: 'unified-events-to-senders',
    about: 'who pays is told of a mint as if it had received it',
    edits: [
      edit(
        `${engine}/gateway-events.ts`,
        'address: to, from,',
        'address: nativeForm(spec.sourceDepositor), from,',
      ),
    ],
    test: proof('src/api/webhook-subscriptions/permissionless.test.ts', 'by its receivers alone'),
  },
]
