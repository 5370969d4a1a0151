import { expect, it } from 'vitest'
import { requireNetwork } from './networks/index.ts'
import { browserCallOf, paymentUriOf } from './payment-uri.ts'

const uri = (blockchain: string, address: string, amountAtomic?: bigint) => {
  const network = requireNetwork(blockchain)
  const token = network.tokens.find(({ symbol }) => symbol === 'USDC')!
  return paymentUriOf(network.blockchain, { network, token, address, amountAtomic })
}

it('asks for a payment in the form that wallets of the family read, where there is one', () => {
  const usdc = '0x833589fcd6edb6e08f4c7c32d4f71b54bda02913'
  const payee = '0x00000000000000000000000000000000000a11ce'
  expect(uri('BASE', payee, 25_500_000n)).toBe(
    `ethereum:${usdc}@8453/transfer?address=${payee}&uint256=25500000`,
  )
  expect(uri('BASE', payee)).toBe(`ethereum:${usdc}@8453/transfer?address=${payee}`)
  const holder = 'BeuB5A6cqTWwUrkvoE8TFtswhAVMTL6qL3vL2CE1ii8U'
  const mint = 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v'
  expect(uri('SOL', holder, 25_500_000n)).toBe(`solana:${holder}?amount=25.5&spl-token=${mint}`)
  expect(uri('SOL', holder)).toBe(`solana:${holder}?spl-token=${mint}`)
  expect(uri('APTOS', `0x${'1'.repeat(64)}`, 1n)).toBeUndefined()
})

it('asks a wallet in a browser for a transfer of just the amount, where there are such wallets', () => {
  const callOf = (blockchain: string, address: string) => {
    const network = requireNetwork(blockchain)
    const token = network.tokens.find(({ symbol }) => symbol === 'USDC') ?? network.nativeToken.contract!
    return browserCallOf(network.blockchain, { network, token, address, amountAtomic: 25_500_000n })
  }
  const data = `0xa9059cbb${'0'.repeat(59)}a11ce${25_500_000n.toString(16).padStart(64, '0')}`
  const payee = '0x00000000000000000000000000000000000a11ce'
  expect(callOf('BASE', payee)).toEqual({
    network: '0x2105',
    to: '0x833589fcd6edb6e08f4c7c32d4f71b54bda02913',
    data,
  })
  expect(callOf('SOL', 'BeuB5A6cqTWwUrkvoE8TFtswhAVMTL6qL3vL2CE1ii8U')).toBeUndefined()
})
