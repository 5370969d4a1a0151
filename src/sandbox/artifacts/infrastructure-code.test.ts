import {
  getContractAddress,
  parseTransaction,
  recoverTransactionAddress,
  type TransactionSerializedLegacy,
} from 'viem'
import { expect, it } from 'vitest'
import { singletonFactoryCode } from './infrastructure-code.ts'

/** The creation transaction in ERC-2470. Its sender has no key: another byte anywhere gives another sender and address. */
const creation =
  '0xf9016c8085174876e8008303c4d88080b90154608060405234801561001057600080fd5b50610134806100206000396000f3fe6080604052348015600f57600080fd5b506004361060285760003560e01c80634af63f0214602d575b600080fd5b60cf60048036036040811015604157600080fd5b810190602081018135640100000000811115605b57600080fd5b820183602082011115606c57600080fd5b80359060200191846001830284011164010000000083111715608d57600080fd5b91908080601f016020809104026020016040519081016040528093929190818152602001838380828437600092019190915250929550509135925060eb915050565b604080516001600160a01b039092168252519081900360200190f35b6000818351602085016000f5939250505056fea26469706673582212206b44f8a82cb6b156bfcc3dc6aadd6df4eefd204bc928a4397fd15dacf6d5320564736f6c634300060200331b83247000822470'
const constructorBytes = 32

it('the singleton factory has the code that its published creation transaction leaves at its address', async () => {
  const from = await recoverTransactionAddress({
    serializedTransaction: creation as TransactionSerializedLegacy,
  })
  expect(from).toBe('0xBb6e024b9cFFACB947A71991E386681B1Cd1477D')
  expect(getContractAddress({ from, nonce: 0n })).toBe('0xce0042B868300000d44A59004Da54A005ffdcf9f')
  const { data } = parseTransaction(creation)
  expect(singletonFactoryCode).toBe(`0x${data!.slice(2 + 2 * constructorBytes)}`)
})
