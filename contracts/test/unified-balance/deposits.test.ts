import type { Hex } from 'viem'
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest'
import { baseSepolia } from '#chains/networks/base-sepolia'
import { contractSignerAbi, contractSignerBytecode } from '#testing/artifacts/contract-signer'
import { deploy, splitSignature } from '../token-calls.ts'
import { type TokenChain, zeroAddress } from '../token-chain.ts'
import { nonceOf, signAuthorization, signPermit } from '../token-signatures.ts'
import {
  alice,
  bob,
  carol,
  faucet,
  greatest,
  holding,
  issuer,
  read,
  refusal,
  send,
  startGatewayChain,
  stranger,
  token,
  tokensOf,
  wallet,
} from './gateway-chain.ts'

let chain: TokenChain
let snapshot: Hex
beforeAll(async () => {
  chain = await startGatewayChain()
})
beforeEach(async () => {
  snapshot = await chain.client.snapshot()
})
afterEach(() => chain.client.revert({ id: snapshot }))
afterAll(() => chain?.stop())

/** The name of USDC on this network, which its signatures are bound to. */
const coin = { name: baseSepolia.tokens[0]!.name }

const permitOf = async (owner: Hex, signer = alice) => {
  const message = { owner, spender: wallet, value: 7n, nonce: 0n, deadline: greatest }
  return { message, signature: await signPermit(signer, message, coin) }
}
const authorizationOf = async (from: Hex, signer = alice) => {
  const times = { validAfter: 0n, validBefore: greatest }
  const message = { from, to: wallet, value: 7n, ...times, nonce: nonceOf('deposit') }
  const signature = await signAuthorization(signer, 'ReceiveWithAuthorization', message, coin)
  return { args: [token, from, 7n, 0n, greatest, message.nonce] as const, signature }
}
const deposited = (depositor: Hex, sender: Hex) => [
  { eventName: 'Deposited', args: { token, depositor, sender, value: 7n } },
]

it('credits an approved deposit to the caller, and one for another account to that account', async () => {
  const before = await tokensOf(chain, alice.address)
  expect(await send(chain, alice, wallet, 'deposit', [token, 7n])).toEqual(
    deposited(alice.address, alice.address),
  )
  expect(await send(chain, alice, wallet, 'depositFor', [token, carol.address, 7n])).toEqual(
    deposited(carol.address, alice.address),
  )
  for (const person of [alice, carol])
    expect(await holding(chain, person)).toEqual({ available: 7n, withdrawing: 0n })
  expect(await tokensOf(chain, wallet)).toBe(14n)
  expect(await tokensOf(chain, alice.address)).toBe(before - 14n)
})

it.each([['v, r, s', splitSignature] as const, ['one piece', (signature: Hex) => [signature]] as const])(
  'credits the signer of a permit and of an authorization, in %s, whoever hands it in',
  async (_, form) => {
    await send(chain, alice, token, 'approve', [wallet, 0n])
    const permit = await permitOf(alice.address)
    const permitArgs = [token, alice.address, 7n, greatest, ...form(permit.signature)]
    expect(await send(chain, stranger, wallet, 'depositWithPermit', permitArgs)).toEqual(
      deposited(alice.address, alice.address),
    )
    const { args, signature } = await authorizationOf(alice.address)
    const authorized = [...args, ...form(signature)]
    expect(await send(chain, stranger, wallet, 'depositWithAuthorization', authorized)).toEqual(
      deposited(alice.address, alice.address),
    )
    expect(await refusal(chain, stranger, wallet, 'depositWithAuthorization', authorized)).toBe(
      'FiatTokenV2: authorization is used or canceled',
    )
    expect(await holding(chain, alice)).toEqual({ available: 14n, withdrawing: 0n })
    expect(await read(chain, token, 'allowance', [alice.address, wallet])).toBe(0n)
  },
)

it('credits a contract that signs by ERC-1271, with a permit and with an authorization', async () => {
  const account = await deploy(chain, contractSignerAbi, contractSignerBytecode, [alice.address])
  await send(chain, faucet, token, 'mint', [account, 14n])
  const wrapped = (signature: Hex): Hex => `0x01${signature.slice(2)}`
  const permit = await permitOf(account)
  await send(chain, bob, wallet, 'depositWithPermit', [
    token,
    account,
    7n,
    greatest,
    wrapped(permit.signature),
  ])
  const { args, signature } = await authorizationOf(account)
  await send(chain, bob, wallet, 'depositWithAuthorization', [...args, wrapped(signature)])
  expect(await holding(chain, { address: account })).toEqual({ available: 14n, withdrawing: 0n })
})

it('credits nothing for a signature of another account or value', async () => {
  const { args, signature } = await authorizationOf(alice.address, bob)
  const invalid = 'FiatTokenV2: invalid signature'
  expect(await refusal(chain, bob, wallet, 'depositWithAuthorization', [...args, signature])).toBe(invalid)
  const right = await authorizationOf(alice.address)
  const more = right.args.with(2, 8n)
  expect(await refusal(chain, bob, wallet, 'depositWithAuthorization', [...more, right.signature])).toBe(
    invalid,
  )
  const permit = await permitOf(alice.address)
  const permitted = [token, alice.address, 8n, greatest, permit.signature]
  expect(await refusal(chain, bob, wallet, 'depositWithPermit', permitted)).toBe('EIP2612: invalid signature')
})

/** Every way to deposit `value` of `asset` for alice. */
async function waysOf(asset: Hex, value: bigint) {
  const permit = [asset, alice.address, value, greatest]
  const authorization = [asset, alice.address, value, 0n, greatest, nonceOf('deposit')]
  const parts = [27, nonceOf('r'), nonceOf('s')]
  return [
    ['deposit', [asset, value]],
    ['depositFor', [asset, alice.address, value]],
    ['depositWithPermit', [...permit, '0x']],
    ['depositWithPermit', [...permit, ...parts]],
    ['depositWithAuthorization', [...authorization, '0x']],
    ['depositWithAuthorization', [...authorization, ...parts]],
  ] as const
}

it('refuses in all ways another token, no value, denied parties, and while it is paused', async () => {
  const refusals = async (asset: Hex, value: bigint) =>
    new Set(
      await Promise.all(
        (await waysOf(asset, value)).map(([name, args]) => refusal(chain, alice, wallet, name, args)),
      ),
    )
  const other = bob.address
  expect(await refusals(other, 1n)).toEqual(new Set([`UnsupportedToken(${other})`]))
  expect(await refusals(token, 0n)).toEqual(new Set(['DepositValueMustBePositive()']))
  await send(chain, issuer, wallet, 'denylist', [alice.address])
  const denied = `AccountDenylisted(${alice.address})`
  expect(await refusals(token, 1n)).toEqual(new Set([denied]))
  // The depositor is denied, and not the caller; a deposit of one's own has one party.
  for (const [name, args] of (await waysOf(token, 1n)).slice(1))
    expect([name, await refusal(chain, bob, wallet, name, args)]).toEqual([name, denied])
  await send(chain, issuer, wallet, 'unDenylist', [alice.address])
  await send(chain, issuer, wallet, 'pause', [])
  expect(await refusals(token, 1n)).toEqual(new Set(['EnforcedPause()']))
  await send(chain, issuer, wallet, 'unpause', [])
  await send(chain, alice, wallet, 'deposit', [token, 1n])
})

it('refuses a deposit for nobody and for an account that the token froze', async () => {
  expect(await refusal(chain, alice, wallet, 'depositFor', [token, zeroAddress, 1n])).toBe('InvalidAddress()')
  await send(chain, issuer, token, 'blacklist', [carol.address])
  expect(await refusal(chain, alice, wallet, 'depositFor', [token, carol.address, 1n])).toBe(
    `DepositorIsBlacklisted(${carol.address})`,
  )
})

it('refuses more than the caller owns or allows', async () => {
  expect(await refusal(chain, alice, wallet, 'deposit', [token, 1_000_000001n])).toBe(
    'ERC20: transfer amount exceeds balance',
  )
  expect(await refusal(chain, carol, wallet, 'deposit', [token, 1n])).toBe(
    'ERC20: transfer amount exceeds allowance',
  )
})
