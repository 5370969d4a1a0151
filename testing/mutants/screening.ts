import { edit, engine, type Mutant, proof } from './mutant.ts'

const received = `${engine}/received.test.ts`
const receive = `${engine}/receive.ts`

/** Screening: bugs here pay a listed address, or let money go that waits for an operator. */
export const screeningMutants: readonly Mutant[] = [
  {
    name: 'foreign-deposit-counts',
    about: 'what a listed account deposits for another one can be spent',
    edits: [
      edit(
        'src/engines/unified-balance/hold-deposits.ts',
        "if (actions.includes('APPROVE')) cleared",
        'if (actions.length < 9) cleared',
      ),
    ],
    test: proof('testing/suites/money/sanctions.test.ts', 'property 141'),
  },
  {
    name: 'unanswered-spend-attested',
    about: 'a transfer of a unified balance is attested before the provider of screening has answered',
    edits: [
      edit(
        'src/engines/unified-balance/screen-transfer.ts',
        'if (await askUntilKnown(ctx, recipients)) return',
        'if (recipients.length > 0) return',
      ),
    ],
    test: proof('testing/suites/money/sanctions.test.ts', 'property 142'),
  },
  {
    name: 'unanswered-operation-carried',
    about: 'an operation of a page is carried before the provider of screening has answered',
    edits: [
      edit(
        'src/engines/modular/screen-operation.ts',
        'if (ctx.config.screeningUrl === undefined) return',
        'if (ctx.config.screeningUrl !== null) return',
      ),
    ],
    test: proof('testing/suites/money/sanctions.test.ts', 'property 142'),
  },
  {
    name: 'listed-recipient-cleared',
    about: 'a transaction to a listed address is cleared',
    edits: [edit(`${engine}/screen.ts`, "actions.includes('DENY')", 'actions.length > 9')],
    test: proof(`${engine}/screening.test.ts`, 'a call with a listed recipient in its data'),
  },
  {
    name: 'received-under-review-is-free',
    about: 'money under review is not held',
    edits: [
      edit(
        `${engine}/hold-reviewed-deposits.ts`,
        'await placeHolds(tx, nowMs, holds, { regardless: true })',
        'void [placeHolds, holds]',
      ),
    ],
    test: proof(received, 'property 74: under review cannot be spent'),
  },
  {
    name: 'review-outlives-its-block',
    about: 'the hold of a received transfer stays after its block was orphaned',
    edits: [edit(receive, 'await releaseReviewed(ctx, tx, failed)', 'void releaseReviewed')],
    test: proof(received, 'that a reorg removes'),
  },
  {
    name: 'receiver-never-frozen',
    about: 'a wallet that a sanctioned sender paid stays live',
    edits: [
      edit(
        `${engine}/freeze-receivers.ts`,
        '(tx) => takeToFreeze(tx, received)',
        'async () => takeToFreeze.length > 9',
      ),
    ],
    test: proof(received, 'freezes the wallet once'),
  },
  {
    name: 'deposit-credited-under-review',
    about: 'a deposit is credited although its review is pending',
    edits: [
      edit(
        'src/engines/treasury/deposits/store/payments.ts',
        "and p.review is distinct from 'pending'",
        'and true',
      ),
    ],
    test: proof(received, 'property 74: under review is credited once'),
  },
  {
    name: 'uncredited-deposit-unproven',
    about: 'the proof of the money does not count deposits under review',
    edits: [
      edit(
        'src/engines/treasury/reconciliation/store/money-proof.ts',
        "from payments where review in ('pending', 'denied')",
        "from payments where review in ('pending')",
      ),
    ],
    test: proof(received, 'property 74: under review is credited once'),
  },
  {
    name: 'listed-payee-active',
    about: 'a recipient with a listed address becomes active',
    edits: [
      edit(
        'src/engines/treasury/address-book/deny-listed.ts',
        "decisions[index]!.actions.includes('DENY')",
        'decisions[index]!.actions.length > 9',
      ),
    ],
    test: proof('src/api/recipients/recipients.test.ts', 'is denied by its review'),
  },
  {
    name: 'issuer-change-outlives-its-block',
    about: 'an address that an orphaned block blocked stays on the list of the issuer',
    edits: [
      edit(
        'src/engines/indexer/reorg.ts',
        'await undoIssuers(tx, ctx.clock.nowMs(), { blockchain, blockHash: head.hash })',
        'void undoIssuers',
      ),
    ],
    test: proof(`${engine}/screening.test.ts`, 'is as it was before a block that a reorg removes'),
  },
  {
    name: 'issuer-never-asked',
    about: 'a transfer to an address that was blocked before fails instead of being denied',
    edits: [edit(`${engine}/sign.ts`, 'await readIssuers(ctx, chain, planned)', 'void readIssuers')],
    test: proof(`${engine}/screening.test.ts`, 'is read from the contract where no event told'),
  },
  {
    name: 'code-unread',
    about: 'code that pays a listed address is deployed',
    edits: [edit('src/chains/evm/effects/decode-call.ts', ', ...addressesInCode(data)]', ']')],
    test: proof('testing/suites/money/sanctions.test.ts', 'property 115: a call is DENIED where'),
  },
  {
    name: 'first-owner-unscreened',
    about: 'an operation that creates the account of a listed owner is carried',
    edits: [
      edit(
        'src/engines/modular/screen-operation.ts',
        'counterpartiesOfCreation(chain, { creation })',
        'counterpartiesOfCreation(chain, {})',
      ),
    ],
    test: proof('testing/suites/money/sanctions.test.ts', 'property 115: an operation of a modular wallet'),
  },
  {
    name: 'denied-shown-in-one-form',
    about: 'a client that reads the screening in `data` takes a denied address for a clean one',
    edits: [
      edit(
        'src/api/screenings/screen-address.ts',
        '{ ...screening, data: screening }',
        '{ ...screening, data: {} as typeof screening }',
      ),
    ],
    test: proof('src/api/screenings/screenings.test.ts', 'property 160'),
  },
]
