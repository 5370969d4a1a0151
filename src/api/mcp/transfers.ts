import { idInput, inputOf, optional, pageInput, readList, readOne, textInput, tool } from './tool.ts'

/** The fields that say what is paid. */
export const transferInput = {
  walletId: idInput('The wallet that pays, from list_wallets.'),
  destinationAddress: textInput('The address to pay, on the blockchain of the wallet.'),
  amount: textInput('The amount in whole tokens, as a decimal text such as "1.50".', 100),
  tokenId: optional(
    idInput('The token, from show_balances. Without tokenId and tokenAddress, the native coin is paid.'),
  ),
  tokenAddress: optional(textInput('The contract of the token, in place of tokenId.')),
}

/** The members of a transfer request, in the words of the API. */
export const transferRequest = <Fields extends { amount: string }>({ amount, ...fields }: Fields) => ({
  ...fields,
  amounts: [amount],
})

/** Tools that read transfers and other transactions. */
export const transferTools = [
  tool({
    name: 'estimate_transfer',
    title: 'Estimate a transfer',
    description: 'Estimates the network fee of a transfer for each fee level. Nothing is sent.',
    acts: false,
    input: inputOf(transferInput),
    run: async (platform, input) => {
      const body = transferRequest(input)
      return (await platform({ method: 'POST', path: '/v1/w3s/transactions/transfer/estimateFee', body }))
        .data
    },
  }),
  tool({
    name: 'list_transactions',
    title: 'List transactions',
    description: 'Lists transactions from and to the wallets of this account, newest first.',
    acts: false,
    input: inputOf({
      walletId: optional(idInput('The transactions of this wallet alone.')),
      blockchain: optional(textInput('Those on this blockchain alone, such as BASE-SEPOLIA.', 50)),
      state: optional(textInput('Those in this state alone, such as COMPLETE or FAILED.', 50)),
      txHash: optional(textInput('Those of this transaction of the blockchain alone.')),
      ...pageInput,
    }),
    run: (platform, { walletId, ...input }) =>
      readList(platform, '/v1/w3s/transactions', 'transactions', {
        ...input,
        ...(walletId !== undefined && { walletIds: walletId }),
      }),
  }),
  tool({
    name: 'show_transaction',
    title: 'Show a transaction',
    description:
      'Shows a transaction and its state. COMPLETE is paid; FAILED, DENIED and CANCELLED paid nothing; in any other state it is under way.',
    acts: false,
    input: inputOf({ transactionId: idInput('The id of the transaction.') }),
    run: (platform, { transactionId }) => readOne(platform, `/v1/w3s/transactions/${transactionId}`),
  }),
]
