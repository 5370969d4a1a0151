import { edit, type Mutant, proof } from './mutant.ts'

const engine = 'src/engines/facilitator'
const ofPermits = (title: string) => proof('src/api/x402/permits.test.ts', title)
const ofX402 = (title: string) => proof('testing/suites/clients/x402.test.ts', title)
const ofPolicy = (title: string) => proof('src/api/x402/settlement-policy.test.ts', title)

/** Payments that payers signed: bugs here pay twice, or call failed what is paid. */
export const signedPaymentMutants: readonly Mutant[] = [
  {
    name: 'settled-before-block',
    about: 'a payment is settled once it is sent, though no block has it',
    edits: [
      edit(
        `${engine}/settle.ts`,
        "const isMined = (state: string | null) => state === 'CONFIRMED'",
        "const isMined = (state: string | null) => state === 'SENT' || state === 'CONFIRMED'",
      ),
    ],
    test: ofX402('whose coins are gone when its block is made'),
  },
  {
    name: 'late-payment-charged',
    about: 'a payment whose buyer was turned away is sent later',
    edits: [
      edit(
        `${engine}/settle.ts`,
        'found.submitDate !== null) return found',
        'found.state === null) return found',
      ),
    ],
    test: ofX402('that was not sent in time is refused for good'),
  },
  {
    name: 'settled-to-each-request',
    about:
      'each request for one payment is answered that it is settled, so that a buyer has two deliveries for it',
    edits: [edit(`${engine}/store.ts`, `set delivery_id = \${deliveryId}`, 'set delivery_id = null')],
    test: ofX402('is settled once, whoever asks'),
  },
  {
    name: 'terms-of-signature-ignored',
    about: 'a settled payment counts for terms that its payer never signed',
    edits: [edit(`${engine}/settle.ts`, "'from', 'to', 'amountAtomic'", "'from'")],
    test: ofX402('is answered again to the delivery that was answered'),
  },
  {
    name: 'settlements-counted-at-once',
    about: 'settlements at once have each the room that is left for one',
    edits: [
      edit(
        'src/custody/settlements/decide-settlement.ts',
        'policiesOfAsker(ctx, true)',
        'policiesOfAsker(ctx, false)',
      ),
    ],
    test: ofPolicy('a settlement waits for another one that the same limit counts'),
  },
  {
    name: 'fee-of-failed-payment-freed',
    about: 'a failed payment gives its network fee back to the budget, and the treasury has paid it',
    edits: [
      edit(
        'src/custody/store/policies.ts',
        "released_date = case when s.purpose = 'networkFee' then s.released_date else",
        'released_date = case when false then s.released_date else',
      ),
    ],
    test: ofPolicy('free what was not sent'),
  },
  {
    name: 'verdicts-exchanged',
    about: 'simulations that share a request have the verdicts of each other',
    edits: [
      edit(
        'src/chains/evm/rpc/joint-executions.ts',
        'const answer = answers[index]',
        'const answer = answers[0]',
      ),
    ],
    test: proof('src/api/x402/verified-together.test.ts', 'have each the verdict on themselves'),
  },
  {
    name: 'signature-of-named-payment-ignored',
    about: 'anybody who knows the identifier of a payment has a delivery for it',
    edits: [edit(`${engine}/settle.ts`, 'isAlike && (await isSignedByKey(chain, signed))', 'isAlike')],
    test: proof('src/api/x402/payment-identifier.test.ts', 'is no other one under the same name'),
  },
  {
    name: 'missing-contract-pays',
    about: 'a payment counts as settled where the contract of its scheme does not exist',
    edits: [
      edit(
        `${engine}/verify-permit.ts`,
        'if (!(await contractsOn(chain)',
        'if (false && !(await contractsOn(chain)',
      ),
    ],
    test: ofPermits('is refused where the contract of its scheme is missing'),
  },
  {
    name: 'more-than-signed',
    about: 'a seller is told by the chain alone that it charges more than the payer signed',
    edits: [
      edit(`${engine}/permits.ts`, 'return amountAtomic > permit.maxAtomic', 'return amountAtomic < 0n'),
    ],
    test: ofPermits('charges what its seller chose at the settlement'),
  },
  {
    name: 'charged-after-nothing',
    about: 'a payer who was charged nothing can be charged for the same signature',
    edits: [
      edit(`${engine}/settle.ts`, 'if (payment.amount === 0n) return', 'if (payment.amount === 1n) return'),
    ],
    test: ofPermits('of nothing sends no transaction'),
  },
  {
    name: 'account-of-another',
    about: 'the treasury pays for the creation of accounts that do not pay',
    edits: [
      edit(
        `${engine}/account-creation.ts`,
        'if (firstPayments.createdAccount(wrapped) !== from)',
        'if (firstPayments.createdAccount(wrapped) === undefined)',
      ),
    ],
    test: proof('src/api/x402/first-payments.test.ts', 'is refused where the call creates another account'),
  },
]
