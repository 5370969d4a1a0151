import fc from 'fast-check'
import { encodeErrorResult, parseAbi } from 'viem'
import { describe, expect, it } from 'vitest'
import { anyText } from '#testing/requests/any-text'
import { isDeep } from '#testing/runner/size'
import { RpcError } from '../rpc/rpc.ts'
import { explainRevert, isRevert } from './revert.ts'

const abi = parseAbi([
  'error Error(string reason)',
  'error Panic(uint256 code)',
  'error ERC20InsufficientBalance(address sender, uint256 balance, uint256 needed)',
  'error EnforcedPause()',
  'error Unheard(uint256 what)',
  'error DepositValueMustBePositive()',
  'error AccountDenylisted(address addr)',
])
const data = (errorName: string, ...args: unknown[]) => encodeErrorResult({ abi, errorName, args } as never)
const someone = '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266'

describe('a revert', () => {
  it.each([
    [data('Error', 'too late'), '"too late"'],
    [data('Error', ''), '""'],
    [data('Error', 'Pausable: paused'), 'the token is paused (Pausable: paused)'],
    [
      data('Error', 'Blacklistable: account is blacklisted'),
      'the token has blocklisted an account of this call (Blacklistable: account is blacklisted)',
    ],
    [data('Error', 'line\nfeed \u202e\u0007'), '"line?feed ??"'],
    [data('Panic', 0x11n), 'panic 0x11, arithmetic overflow or underflow'],
    [data('Panic', 0x99n), 'panic 0x99, unknown'],
    [data('EnforcedPause'), 'EnforcedPause()'],
    [data('ERC20InsufficientBalance', someone, 1n, 2n), `ERC20InsufficientBalance(${someone}, 1, 2)`],
    [data('Unheard', 5n), `custom error ${data('Unheard', 5n).slice(0, 10)}, with 32 bytes of arguments`],
    [data('DepositValueMustBePositive'), 'DepositValueMustBePositive()'],
    [data('AccountDenylisted', someone), `AccountDenylisted(${someone})`],
    ['0x08c379a0', 'custom error 0x08c379a0, with 0 bytes of arguments'],
    ['0x12', 'the bytes 0x12'],
    ['0x', 'no reason is given'],
    [undefined, 'no reason is given'],
  ])('with %s says why', (bytes, said) => {
    for (const given of [bytes, { data: bytes }])
      expect(explainRevert(new RpcError(3, 'execution reverted', given))).toBe(`the call reverts: ${said}`)
  })

  it.each([
    ['execution reverted: too late', '"too late"'],
    ["VM Exception: reverted with reason string 'too late'", '"too late"'],
    ['execution reverted: Pausable: paused', 'the token is paused (Pausable: paused)'],
    ['out of gas', 'it runs out of gas'],
    ['EVM error OutOfGas', 'it runs out of gas'],
  ])('without bytes is read from the words %s', (message, said) => {
    expect(explainRevert(new RpcError(-32000, message))).toBe(`the call reverts: ${said}`)
  })

  it('is told from what is none', () => {
    expect(isRevert(new RpcError(3, 'whatever'))).toBe(true)
    expect(isRevert(new RpcError(-32000, 'execution reverted'))).toBe(true)
    expect(isRevert(new RpcError(-32000, 'header not found'))).toBe(false)
  })

  it('whatever a contract or a node puts into it is one line of bearable length', () => {
    const bytes = fc.oneof(
      fc.uint8Array({ maxLength: 300 }).map((raw) => `0x${Buffer.from(raw).toString('hex')}`),
      anyText().map((text) => data('Error', text)),
      fc.uint8Array({ maxLength: 200 }).map((raw) => `0x08c379a0${Buffer.from(raw).toString('hex')}`),
      fc.jsonValue({ maxDepth: 2 }),
    )
    fc.assert(
      fc.property(anyText(), bytes, (message, given) => {
        const said = explainRevert(new RpcError(3, message, given))
        expect(said.length).toBeLessThan(400)
        expect(said).not.toMatch(/[\p{Cc}\p{Cf}]/u)
      }),
      { numRuns: isDeep ? 500 : 100 },
    )
  })
})
