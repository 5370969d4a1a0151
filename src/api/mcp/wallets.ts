import { idInput, inputOf, optional, pageInput, readList, readOne, textInput, tool } from './tool.ts'

const walletId = idInput('The id of the wallet, from list_wallets.')

/** Tools that read wallets and their balances. */
export const walletTools = [
  tool({
    name: 'list_wallet_sets',
    title: 'List wallet sets',
    description: 'Lists the groups of wallets of this account, newest first.',
    acts: false,
    input: inputOf(pageInput),
    run: (platform, input) => readList(platform, '/v1/w3s/walletSets', 'walletSets', input),
  }),
  tool({
    name: 'list_wallets',
    title: 'List wallets',
    description: 'Lists the wallets of this account with their ids, addresses and blockchains, newest first.',
    acts: false,
    input: inputOf({
      blockchain: optional(textInput('Wallets of this blockchain alone, such as BASE-SEPOLIA.', 50)),
      address: optional(textInput('The wallets of this address alone.')),
      walletSetId: optional(idInput('The wallets of this wallet set alone.')),
      ...pageInput,
    }),
    run: (platform, input) => readList(platform, '/v1/w3s/wallets', 'wallets', input),
  }),
  tool({
    name: 'show_wallet',
    title: 'Show a wallet',
    description: 'Shows a wallet: its address, to which others can pay, its blockchain and its state.',
    acts: false,
    input: inputOf({ walletId }),
    run: (platform, { walletId: id }) => readOne(platform, `/v1/w3s/wallets/${id}`),
  }),
  tool({
    name: 'show_balances',
    title: 'Show the balances of a wallet',
    description:
      'Shows how much of each token a wallet holds, in whole tokens, with the ids of the tokens for transfers. The address of a token identifies it; anyone can give a token any name.',
    acts: false,
    input: inputOf({ walletId }),
    run: (platform, { walletId: id }) => readOne(platform, `/v1/w3s/wallets/${id}/balances`),
  }),
]
