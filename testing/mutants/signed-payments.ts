import { edit, type Mutant, proof } from './mutant.ts'

const engine = 'src/engines/facilitator'
const ofX402 = (title: string) => proof('testing/suites/clients/x402.test.ts', title)

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
    name: 'payment-of-another-shown',
    about: 'an account settles the payment of another one, and is told of it',
    edits: [
      edit(
        `${engine}/settle.ts`,
        'if (payment.entityId !== entityId)',
        "if (payment.entityId !== entityId && payment.state === 'none')",
      ),
    ],
    test: ofX402('is settled once, whoever asks'),
  },
  {
    name: 'settled-to-each-request',
    about:
      'each request for one payment is answered that it is settled, so that a buyer has two deliveries for it',
    edits: [edit(`${engine}/store.ts`, `set answered_to = \${requestId}`, 'set answered_to = null')],
    test: ofX402('is settled once, whoever asks'),
  },
  {
    name: 'terms-of-signature-ignored',
    about: 'a settled payment counts for terms that its payer never signed',
    edits: [
      edit(`${engine}/settle.ts`, 'recorded.to === offered.to &&', ''),
      edit(`${engine}/settle.ts`, 'recorded.amountAtomic === offered.amountAtomic &&', ''),
    ],
    test: ofX402('is answered again to the request that was answered'),
  },
]
