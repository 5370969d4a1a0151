import { encodeAbiParameters, encodeFunctionData, parseAbi } from 'viem'
import { expect, it } from 'vitest'
import { addressesIn, addressesInCode, addressesInHook, addressesInText } from './addresses-in.ts'

const one = '0x70997970c51812dc3a010c7d01b50e0d17dc79c8'
const vanity = '0x00000000000000adc04c56bf30ac9d3c0aaf14dc'
const number = '0x00000000000000000000000000000000000000ff'
const other = `0x${'ab'.repeat(20)}` as const

it('finds addresses in arguments, in calls within calls and in lists', () => {
  const abi = parseAbi([
    'function pay(uint256 amount, address[] through, address to)',
    'function execute(address target, uint256 value, bytes data)',
  ])
  const inner = encodeFunctionData({ abi, functionName: 'pay', args: [10n ** 24n, [vanity], one] })
  const outer = encodeFunctionData({ abi, functionName: 'execute', args: [other, 7n, inner] })
  expect(addressesIn(inner)).toEqual(expect.arrayContaining([one, vanity]))
  // The called contract stands behind the selector.
  expect(addressesIn(outer)).toContain(other)
  expect(addressesIn(outer)).toEqual(expect.arrayContaining([one, vanity]))
  expect(addressesIn(encodeAbiParameters([{ type: 'address' }], [number]))).toEqual([])
})

it('finds the address that a hook begins with', () => {
  expect(addressesInHook(`${one}a9059cbb`)).toEqual([one])
  expect(addressesInHook('0x1234')).toEqual([])
})

it('finds addresses that bridges take as bytes, and as texts', () => {
  const abi = parseAbi(['function send(uint256 amount, bytes to, string also)'])
  const data = encodeFunctionData({ abi, args: [10n ** 24n, one, `${other}`] })
  expect(addressesIn(data)).toEqual(expect.arrayContaining([one, other]))
})

it('finds constants in code, and addresses in texts', () => {
  expect(addressesInCode(`0x6000${'73'}${one.slice(2)}3173${other.slice(2)}5af1`)).toEqual([one, other])
  // A digit that is half of two bytes begins nothing.
  expect(addressesInCode(`0x07${'3'}${one.slice(2)}0`)).toEqual([])
  expect(addressesInCode(`0x73${one.slice(2, 40)}`)).toEqual([])
  expect(addressesInText(`pay ${one.replace('c', 'C')}, then ${other}ff`)).toEqual([one])
})
