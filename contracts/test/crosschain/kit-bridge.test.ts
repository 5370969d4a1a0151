/** The bridge that published clients call: four functions, each a burn and a payment of a fee. */
import { type Hex, maxUint256 } from 'viem'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { decodeBurnBody, decodeMessage } from '#chains/crosschain/message'
import { wordOfAddress } from '#chains/crosschain/native-address'
import { splitSignature } from '../token-calls.ts'
import { people, type TokenChain, zeroAddress } from '../token-chain.ts'
import { signPermit } from '../token-signatures.ts'
import {
  addresses,
  balanceOf,
  bridge,
  checkpoint,
  issuer,
  local,
  messenger,
  opening,
  placeBetween,
  read,
  refusal,
  remote,
  send,
  sentMessage,
  startCrosschainChain,
  usdc,
  zeroWord,
} from './crosschain-chain.ts'

let chain: TokenChain
let before: { revert(): Promise<void> }
beforeAll(async () => {
  chain = await startCrosschainChain()
})
afterAll(() => chain?.stop())
beforeEach(async () => {
  before = await checkpoint(chain)
})
afterEach(() => before.revert())

const params = {
  amount: 100_000000n,
  maxFee: 1_000000n,
  fee: 3_000000n,
  mintRecipient: wordOfAddress(people.bob.address),
  destinationCaller: zeroWord,
  burnToken: usdc.address,
  feeRecipient: people.carol.address,
  destinationDomain: remote.domain!,
  minFinalityThreshold: 1000,
}
const total = params.amount + params.fee
const hook = '0xc0ffee'

const approve = (value: bigint) =>
  send(chain, people.alice, usdc, 'increaseAllowance', [bridge.address, value])

/** A permit of the token on this chain. */
async function permitOf({ value = total, deadline = maxUint256, signer = people.alice } = {}) {
  const signature = await signPermit(
    signer,
    { owner: people.alice.address, spender: bridge.address, value, nonce: 0n, deadline },
    { name: local.tokens[0]!.name, verifyingContract: usdc.address },
  )
  const [v, r, s] = splitSignature(signature)
  return { deadline, v, r, s }
}

const calls: [string, (given?: object) => Promise<[unknown[], Hex]>][] = [
  [
    'bridgeWithPreapproval',
    async (given) => {
      await approve(total)
      return [[{ ...params, ...given }], '0x']
    },
  ],
  [
    'bridgeWithPreapprovalAndHook',
    async (given) => {
      await approve(total)
      return [[{ ...params, ...given }, hook], hook]
    },
  ],
  ['bridgeWithPermit', async (given) => [[{ ...params, ...given }, await permitOf()], '0x']],
  ['bridgeWithPermitAndHook', async (given) => [[{ ...params, ...given }, await permitOf(), hook], hook]],
]

describe.each(calls)('%s', (name, argsOf) => {
  test('burns the amount as its sender, and pays the fee to its recipient', async () => {
    const [args, hookData] = await argsOf()
    const receipt = await send(chain, people.alice, bridge, name, args)
    expect(await balanceOf(chain, people.alice.address)).toBe(opening - total)
    expect(await balanceOf(chain, people.carol.address)).toBe(params.fee)
    expect(await read(chain, usdc, 'totalSupply')).toBe(opening - params.amount)
    const { messageBody, ...envelope } = decodeMessage(sentMessage(receipt))
    expect(envelope).toMatchObject({
      sender: wordOfAddress(addresses.tokenMessenger),
      destinationDomain: remote.domain,
      destinationCaller: zeroWord,
      minFinalityThreshold: 1000,
    })
    expect(decodeBurnBody(messageBody)).toEqual({
      version: 1,
      burnToken: wordOfAddress(usdc.address),
      mintRecipient: params.mintRecipient,
      amount: params.amount,
      messageSender: wordOfAddress(bridge.address),
      maxFee: params.maxFee,
      feeExecuted: 0n,
      expirationBlock: 0n,
      hookData,
    })
  })

  test('leaves neither tokens nor an allowance behind', async () => {
    const [args] = await argsOf()
    await send(chain, people.alice, bridge, name, args)
    expect(await balanceOf(chain, bridge.address)).toBe(0n)
    const allowance = (owner: string, spender: string) => read(chain, usdc, 'allowance', [owner, spender])
    expect(await allowance(bridge.address, messenger.address)).toBe(0n)
    expect(await allowance(people.alice.address, bridge.address)).toBe(0n)
  })

  test('needs no recipient where there is no fee', async () => {
    const [args] = await argsOf({ fee: 0n, feeRecipient: zeroAddress, amount: total })
    await send(chain, people.alice, bridge, name, args)
    expect(await read(chain, usdc, 'totalSupply')).toBe(opening - total)
  })

  test('is refused to a caller on the denylist, and for what the messenger refuses', async () => {
    const [args] = await argsOf({ maxFee: params.amount })
    expect(await refusal(chain, people.alice, bridge, name, args)).toBe('Max fee must be less than amount')
    await send(chain, issuer, messenger, 'denylist', [people.alice.address])
    expect(await refusal(chain, people.alice, bridge, name, args)).toBe(
      'Denylistable: account is on denylist',
    )
  })

  test('is all or nothing: a fee to the zero address undoes the burn', async () => {
    const [args] = await argsOf({ feeRecipient: zeroAddress })
    expect(await refusal(chain, people.alice, bridge, name, args)).toMatch(/zero address/)
    expect(await balanceOf(chain, people.alice.address)).toBe(opening)
  })
})

test('a contract on the denylist cannot burn through the bridge', async () => {
  const between = await placeBetween(chain, bridge)
  const call = () => refusal(chain, people.alice, between, 'bridgeWithPreapproval', [params])
  expect(await call()).toBe('ERC20: transfer amount exceeds allowance')
  await send(chain, issuer, messenger, 'denylist', [between.address])
  expect(await call()).toBe('Denylistable: account is on denylist')
})

test('an allowance without the fee does not suffice', async () => {
  await approve(total - 1n)
  expect(await refusal(chain, people.alice, bridge, 'bridgeWithPreapproval', [params])).toBe(
    'ERC20: transfer amount exceeds allowance',
  )
})

test('a permit that any account handed in before serves all the same', async () => {
  const permit = await permitOf()
  const { deadline, v, r, s } = permit
  const signed = [people.alice.address, bridge.address, total, deadline, v, r, s]
  // The contract has two functions of this name: parts of the signature make the older.
  await send(chain, people.stranger, usdc, 'permit', signed)
  await send(chain, people.alice, bridge, 'bridgeWithPermit', [params, permit])
  expect(await balanceOf(chain, people.carol.address)).toBe(params.fee)
})

test('a permit of another signer, value or time gives nothing', async () => {
  const reason = 'ERC20: transfer amount exceeds allowance'
  for (const permit of [
    await permitOf({ signer: people.stranger }),
    await permitOf({ value: total - 1n }),
    await permitOf({ deadline: 1n }),
  ])
    expect(await refusal(chain, people.alice, bridge, 'bridgeWithPermit', [params, permit])).toBe(reason)
  // The permit of Alice, in the call of another account.
  expect(await refusal(chain, people.stranger, bridge, 'bridgeWithPermit', [params, await permitOf()])).toBe(
    reason,
  )
})

test('hook data must not be empty', async () => {
  await approve(total)
  const empty = [params, '0x']
  expect(await refusal(chain, people.alice, bridge, 'bridgeWithPreapprovalAndHook', empty)).toBe(
    'Hook data is empty',
  )
})

test('the protocol has no share of fees', async () => {
  expect(await read(chain, bridge, 'calculateFeeShares', [12_345n])).toEqual([12_345n, 0n])
  expect(await read(chain, bridge, 'getProtocolFee', [12_345n])).toBe(0n)
  expect(await read(chain, bridge, 'tokenMessenger')).toBe(messenger.address)
})
