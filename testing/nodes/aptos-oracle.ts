/** Reads what accounts of Aptos paid from the blocks of a node, over its REST interface and by no code of the program. */

/** A payment of coins or of an asset. */
export type AptosPayment = {
  from: string
  to: string
  /** Absent for the native coin. */
  token?: string
  amountAtomic: bigint
  txHash: string
}

type Committed = {
  type: string
  hash: string
  sender: string
  success: boolean
  payload: { function: string; arguments: unknown[] }
}

/** An address in its long form: nodes leave out the zeros at its beginning. */
export const padded = (address: unknown) => `0x${String(address).slice(2).padStart(64, '0')}`

/** The payment of a transaction; throws for a function that moves coins otherwise, or is none of a payment. */
function paymentOf({ hash: txHash, sender, payload }: Committed): AptosPayment {
  const { function: name, arguments: values } = payload
  const from = padded(sender)
  if (name === '0x1::aptos_account::transfer')
    return { from, to: padded(values[0]), amountAtomic: BigInt(String(values[1])), txHash }
  if (name === '0x1::primary_fungible_store::transfer') {
    const token = padded((values[0] as { inner: string }).inner)
    return { from, to: padded(values[1]), token, amountAtomic: BigInt(String(values[2])), txHash }
  }
  throw new Error(`${txHash} of ${from} calls ${name}`)
}

/** All payments of these accounts in transactions that succeeded, in the order of the chain; those to themselves left out. */
export async function aptosPayments(url: string, accounts: readonly string[]): Promise<AptosPayment[]> {
  const read = async (path: string) => (await fetch(`${url}${path}`)).json()
  const { block_height: height } = (await read('')) as { block_height: string }
  const payments: AptosPayment[] = []
  for (let at = 0; at <= Number(height); at++) {
    const block = (await read(`/blocks/by_height/${at}?with_transactions=true`)) as {
      transactions: Committed[]
    }
    payments.push(
      ...block.transactions
        .filter(({ type, success }) => type === 'user_transaction' && success)
        .filter(({ sender }) => accounts.includes(padded(sender)))
        .map(paymentOf)
        .filter(({ from, to }) => from !== to),
    )
  }
  return payments
}
