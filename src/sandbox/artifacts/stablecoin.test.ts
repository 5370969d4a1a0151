import { expect, test } from 'vitest'
import { stablecoinStorage } from './stablecoin.ts'

const someone = '0x00000000000000000000000000000000000000A1'
const another = '0x00000000000000000000000000000000000000b2'
const state = {
  name: 'Euro Coin',
  symbol: 'EURC',
  currency: 'EUR',
  decimals: 6,
  owner: someone,
  masterMinter: someone,
  pauser: someone,
  blacklister: someone,
  minters: [],
  balances: [{ address: another, amount: 7n }],
} as const

test('a short string lies left-aligned in its slot with twice its length at the end', () => {
  expect(stablecoinStorage(state)[`0x${'4'.padStart(64, '0')}`]).toBe(
    `0x4575726f20436f696e${'0'.repeat(44)}12`,
  )
})

test('words that are zero are left out', () => {
  const storage = stablecoinStorage({ ...state, balances: [{ address: another, amount: 0n }] })
  expect(Object.values(storage).filter((word) => BigInt(word) === 0n)).toEqual([])
  expect(Object.keys(stablecoinStorage(state))).toHaveLength(Object.keys(storage).length + 2)
})

test('the case of an address does not matter', () => {
  const lower = stablecoinStorage({ ...state, owner: '0x00000000000000000000000000000000000000a1' })
  expect(lower).toEqual(stablecoinStorage(state))
})

test('a name of 31 bytes fits, one of 32 is refused, counted in bytes', () => {
  expect(stablecoinStorage({ ...state, name: 'x'.repeat(31) })).toBeTypeOf('object')
  expect(() => stablecoinStorage({ ...state, name: 'x'.repeat(32) })).toThrow(/32 bytes; at most 31/)
  expect(() => stablecoinStorage({ ...state, symbol: '€'.repeat(11) })).toThrow(/33 bytes/)
})

test('a state that the contract could never reach is refused', () => {
  const zero = '0x0000000000000000000000000000000000000000'
  const twice = [...state.balances, ...state.balances]
  expect(() => stablecoinStorage({ ...state, pauser: zero })).toThrow(/pauser .* zero address/)
  expect(() => stablecoinStorage({ ...state, balances: twice })).toThrow(/written twice/)
  expect(() => stablecoinStorage({ ...state, totalSupply: 8n })).toThrow(/not the sum/)
  expect(() => stablecoinStorage({ ...state, decimals: 256 })).toThrow(/does not fit/)
  expect(() => stablecoinStorage({ ...state, owner: `${someone}00` })).toThrow(/Not an EVM/)
  expect(() => stablecoinStorage({ ...state, balances: [{ address: '0x12', amount: 1n }] })).toThrow(
    /Not an EVM/,
  )
  expect(() => stablecoinStorage({ ...state, balances: [{ address: another, amount: -1n }] })).toThrow(
    RangeError,
  )
})
