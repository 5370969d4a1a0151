import { type Answer, ask, read } from '../api/ask.ts'
import type { Reader } from './screen.ts'

type Named = { tokenId?: string; symbol?: string }
type Page = { transactions: Named[] }

/** Reads pages of transactions with the symbols of their tokens, which the operation names by id alone. Each token is asked for once. */
export function createSymbolReader(): Reader {
  const symbols = new Map<string, Promise<string | undefined>>()
  const symbolOf = (tokenId: string) => {
    const known = symbols.get(tokenId)
    if (known) return known
    const asked = read<{ token: { symbol?: string } }>(`/v1/w3s/tokens/${tokenId}`).then(
      ({ token }) => token.symbol,
      // Without its symbol an amount is shown alone.
      () => undefined,
    )
    symbols.set(tokenId, asked)
    return asked
  }
  return async (path) => {
    const answer: Answer<Page> = await ask('GET', path)
    const transactions = await Promise.all(
      answer.data.transactions.map(async (row) => ({
        ...row,
        symbol: row.tokenId === undefined ? undefined : await symbolOf(row.tokenId),
      })),
    )
    return { ...answer, data: { ...answer.data, transactions } }
  }
}
