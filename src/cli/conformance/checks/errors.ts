import { randomUUID } from 'node:crypto'
import type { ErrorName } from '#lib/error-kinds'
import { requireThat } from '../caller.ts'
import type { CheckGroup } from '../world.ts'

/** Single resources, and the error for an id that no resource has. */
const resources: readonly [operation: string, unknownId: ErrorName | readonly ErrorName[]][] = [
  ['GET /v1/w3s/walletSets/{id}', 'walletSetNotFound'],
  ['GET /v1/w3s/wallets/{id}', 'walletNotFound'],
  ['GET /v1/w3s/transactions/{id}', 'transactionNotFound'],
  ['GET /v1/w3s/tokens/{id}', 'tokenNotFound'],
  ['GET /v1/w3s/contracts/{id}', 'contractNotFound'],
  ['GET /v1/paymentIntents/{id}', 'paymentIntentNotFound'],
  ['GET /v1/payments/{id}', 'paymentNotFound'],
  ['GET /v1/payouts/{id}', 'payoutNotFound'],
  ['GET /v1/businessAccount/transfers/{id}', 'transferNotFound'],
  ['GET /v1/addressBook/recipients/{id}', 'recipientNotFound'],
  ['GET /v2/notifications/subscriptions/{id}', 'subscriptionNotFound'],
]

const intentOn = (chain: string) => ({
  type: 'transient',
  currency: 'USD',
  settlementCurrency: 'USD',
  amount: { amount: '1.00', currency: 'USD' },
  paymentMethods: [{ type: 'blockchain', chain }],
})

export const errors: CheckGroup = {
  name: 'errors',
  checks: [
    ...resources.map(([operation, error]) => ({
      about: `${operation} answers an unknown id with its documented error`,
      run: async ({ refused }: Parameters<CheckGroup['checks'][number]['run']>[0]) =>
        void (await refused(operation, error, { params: { id: randomUUID() } })),
    })),
    {
      about: 'refuses an id in the address that is no UUID',
      run: async ({ refused }) =>
        void (await refused('GET /v1/w3s/wallets/{id}', ['idNotUuid', 'invalidRequest'], {
          params: { id: 'seven' },
        })),
    },
    {
      about: 'refuses a body that is no JSON, is cut off, or is a list where an object belongs',
      run: async ({ refused }) => {
        for (const body of ['{', '{"address":', 'address=1', '[]', '"text"', 'null'])
          await refused('POST /v1/w3s/transactions/validateAddress', 'invalidRequest', { body })
      },
    },
    {
      about: 'names the field that is missing',
      run: async ({ refused, blockchain }) => {
        const { message } = await refused('POST /v1/w3s/transactions/validateAddress', 'invalidRequest', {
          body: { blockchain },
        })
        requireThat(message?.includes('address') === true, `the message does not name address: ${message}`)
      },
    },
    {
      about: 'names the field that has the wrong type, and the one with a value that does not exist',
      run: async ({ refused, blockchain }) => {
        const operation = 'POST /v1/w3s/transactions/validateAddress'
        const typed = await refused(operation, 'invalidRequest', {
          body: { address: 7, blockchain },
        })
        requireThat(
          typed.message?.includes('address') === true,
          `the message does not name address: ${typed.message}`,
        )
        const chosen = await refused(operation, 'invalidRequest', {
          body: { address: 'x', blockchain: 'NOWHERE' },
        })
        requireThat(
          chosen.message?.includes('blockchain') === true,
          `the message does not name blockchain: ${chosen.message}`,
        )
      },
    },
    {
      about: 'refuses amounts that are not above zero, of another currency, or no decimal numbers',
      run: async ({ ask, businessChain }) => {
        const intent = intentOn(businessChain)
        for (const amount of ['0', '-1', '1e3', 'NaN', ' 1', '1,00', '']) {
          const body = { ...intent, idempotencyKey: randomUUID(), amount: { amount, currency: 'USD' } }
          const { status } = await ask('POST /v1/paymentIntents', { body })
          requireThat(status === 400, `accepts the amount "${amount}" with ${status}`)
        }
        const body = {
          ...intent,
          idempotencyKey: randomUUID(),
          currency: 'XYZ',
          amount: { amount: '1', currency: 'XYZ' },
        }
        const { status } = await ask('POST /v1/paymentIntents', { body })
        requireThat(status === 400, `accepts the currency XYZ with ${status}`)
      },
    },
  ],
}
