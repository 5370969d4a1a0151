import { initiateDeveloperControlledWalletsClient } from '@circle-fin/developer-controlled-wallets'
import {
  encodeFunctionData,
  getAddress,
  hashTypedData,
  keccak256,
  parseAbi,
  parseTransaction,
  recoverTransactionAddress,
  serializeTransaction,
  verifyMessage,
  verifyTypedData,
} from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { sql } from '#runtime/db/db'
import {
  freshAddress,
  makeTransfer,
  makeWallet,
  until,
  type Wallet,
  type World,
  worldOf,
} from '../../../testing/builders.ts'
import { type Harness, openHarness } from '../../../testing/harness.ts'

type Hex = `0x${string}`

let harness: Harness
let world: World
let wallet: Wallet
let address: Hex
let client: ReturnType<typeof initiateDeveloperControlledWalletsClient>

beforeAll(async () => {
  harness = await openHarness({ blockchains: ['BASE-SEPOLIA', 'ETH-SEPOLIA'] })
  world = worldOf(harness)
  wallet = await world.fundedWallet()
  address = wallet.address as Hex
  const { apiKey, entitySecret, url } = harness
  client = initiateDeveloperControlledWalletsClient({ apiKey, entitySecret, baseUrl: url })
})
afterAll(() => harness?.close())

const post = async (operation: string, fields: Record<string, unknown>) =>
  harness.http('POST', `/v1/w3s/developer/sign/${operation}`, {
    body: { entitySecretCiphertext: await harness.sealSecret(), walletId: wallet.id, ...fields },
  })

const byAddress = { walletId: undefined, walletAddress: '', blockchain: 'EVM-TESTNET' }

async function refused(operation: string, fields: Record<string, unknown>, code: number, location?: RegExp) {
  const { status, body, text } = await post(operation, fields)
  expect([status < 500, body.code], text).toEqual([true, code])
  if (location) expect(body.errors[0].location).toMatch(location)
}

const permit = {
  domain: {
    name: 'USD Coin',
    version: '2',
    chainId: 84532,
    verifyingContract: '0x036CbD53842c5426634e7929541eC2318f3dCF7e',
  },
  types: {
    Permit: [
      { name: 'owner', type: 'address' },
      { name: 'spender', type: 'address' },
      { name: 'value', type: 'uint256' },
      { name: 'nonce', type: 'uint256' },
      { name: 'deadline', type: 'uint256' },
    ],
  },
  primaryType: 'Permit',
  message: {
    owner: '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266',
    spender: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
    value: '1000000',
    nonce: 0,
    deadline: '0xffffffff',
  },
}

describe('a message', () => {
  it.each([
    ['text', { message: 'I agree to pay 5 €' }, 'I agree to pay 5 €'],
    ['bytes', { message: '0xdeadbeef', encodedByHex: true }, { raw: '0xdeadbeef' }],
    ['text that looks like bytes', { message: '0xdeadbeef' }, '0xdeadbeef'],
  ] as const)(
    'of %s is signed so that others verify it, through the published client',
    async (_, input, message) => {
      const { data } = await client.signMessage({ walletId: wallet.id, ...input })
      expect(data?.signature).toMatch(/^0x[0-9a-f]{130}$/)
      expect(
        await verifyMessage({ address, message: message as string, signature: data!.signature as Hex }),
      ).toBe(true)
    },
  )

  it.each([
    [{ message: 'beef', encodedByHex: true }, 156023, /^message$/],
    [{ message: '0x123', encodedByHex: true }, 156023, /^message$/],
    [{ message: '' }, 156025, /^message$/],
    [{ message: 7 }, 2, /^message$/],
    [{}, 2, /^message$/],
  ])('%j is refused with %i', (fields, code, location) => refused('message', fields, code, location))
})

describe('typed data', () => {
  it('is signed so that others verify it, under both names, through the published client', async () => {
    const { data } = await client.signTypedData({
      walletAddress: getAddress(address),
      blockchain: 'BASE-SEPOLIA',
      data: JSON.stringify(permit),
      memo: 'a permit',
    })
    const message = { ...permit.message, value: 1_000_000n, nonce: 0n, deadline: 0xffffffffn }
    const shown = { ...permit, message, address, signature: data!.signature as Hex }
    expect(await verifyTypedData(shown as never)).toBe(true)
    const older = await post('typeData', { data: JSON.stringify(permit) })
    expect(older.body.data).toEqual({ signature: data!.signature })
  })

  it('that permits a spender is taken by the token itself', async () => {
    const { rpc, tokens, outsider, oracle } = harness.chain()
    const owned = { ...permit.message, owner: address, spender: outsider, nonce: '0' }
    const { body } = await post('typedData', { data: JSON.stringify({ ...permit, message: owned }) })
    const data = encodeFunctionData({
      abi: parseAbi(['function permit(address,address,uint256,uint256,bytes)']),
      functionName: 'permit',
      args: [address, outsider, 1_000_000n, 0xffffffffn, body.data.signature],
    })
    await rpc('eth_sendTransaction', [{ from: outsider, to: tokens.USDC, data, gas: '0x30d40' }])
    const to = freshAddress() as Hex
    const spend = encodeFunctionData({
      abi: parseAbi(['function transferFrom(address,address,uint256)']),
      functionName: 'transferFrom',
      args: [address, to, 1_000_000n],
    })
    await rpc('eth_sendTransaction', [{ from: outsider, to: tokens.USDC, data: spend, gas: '0x30d40' }])
    await until(async () => (await oracle.balanceOf(to, tokens.USDC)) === 1_000_000n, 'it is spent')
  })

  const changed = (changes: Record<string, unknown>) => JSON.stringify({ ...permit, ...changes })
  const message = (changes: Record<string, unknown>) =>
    changed({ message: { ...permit.message, ...changes } })
  const types = (given: Record<string, unknown>, value: unknown) =>
    JSON.stringify({ domain: {}, types: given, primaryType: 'A', message: value })
  const domainType = (fields: unknown) => changed({ types: { ...permit.types, EIP712Domain: fields } })

  it.each([
    ['no JSON', '{', 156024, /^data$/],
    ['nothing', '', 156024, /^data$/],
    ['a list', '[]', 156026, /^data$/],
    ['null', 'null', 156026, /^data$/],
    ['too deep', `${'['.repeat(50_000)}${']'.repeat(50_000)}`, 156026, /^data/],
    ['half a character', message({ owner: 'x' }).replace('USD Coin', '\\ud800'), 156026, /name$/],
    ['no domain', changed({ domain: undefined }), 156026, /^data\.domain$/],
    ['a domain of text', changed({ domain: 'USD Coin' }), 156026, /^data\.domain$/],
    ['an unknown domain field', changed({ domain: { ...permit.domain, x: 1 } }), 156026, /^data\.domain\.x$/],
    ['a domain type of its own', domainType([{ name: 'chainId', type: 'string' }]), 156026, /EIP712Domain/],
    ['a domain that lacks a field', domainType([{ name: 'salt', type: 'bytes32' }]), 156026, /^data\.domain/],
    ['no types', changed({ types: undefined }), 156026, /^data\.types$/],
    ['no primary type', changed({ primaryType: undefined }), 156026, /^data\.primaryType$/],
    ['an unknown primary type', changed({ primaryType: 'Permit2' }), 156026, /^data\.primaryType$/],
    ['the domain as primary type', changed({ primaryType: 'EIP712Domain' }), 156026, /^data\.primaryType$/],
    ['an inherited primary type', changed({ primaryType: 'constructor' }), 156026, /^data\.primaryType$/],
    ['no message', changed({ message: undefined }), 156026, /^data\.message$/],
    ['a missing field', message({ nonce: undefined }), 156026, /^data\.message\.nonce$/],
    ['an extra field', message({ extra: 1 }), 156026, /^data\.message\.extra$/],
    [
      'an extra inherited field',
      message({}).replace('"nonce":0', '"nonce":0,"__proto__":1'),
      156026,
      /__proto__$/,
    ],
    ['a number out of range', message({ value: -1 }), 156026, /^data\.message\.value$/],
    ['a number that is none', message({ value: '1.5' }), 156026, /^data\.message\.value$/],
    ['a wrong address', message({ owner: '0x1' }), 156026, /^data\.message\.owner$/],
    [
      'a type twice',
      types(
        {
          A: [
            { name: 'x', type: 'bool' },
            { name: 'x', type: 'bool' },
          ],
        },
        { x: true },
      ),
      156026,
      /A$/,
    ],
    [
      'an unknown type',
      types({ A: [{ name: 'x', type: 'B' }] }, { x: 1 }),
      156026,
      /^data\.types\.A\[0\]\.type$/,
    ],
    [
      'a short type',
      types({ A: [{ name: 'x', type: 'uint' }] }, { x: 1 }),
      156026,
      /^data\.types\.A\[0\]\.type$/,
    ],
    ['a name with a bracket', types({ A: [{ name: 'x)', type: 'bool' }] }, { 'x)': true }), 156026, /name$/],
    ['a struct called uint256', types({ uint256: [], A: [] }, {}), 156026, /uint256$/],
    [
      'a struct in itself',
      types({ A: [{ name: 'a', type: 'A' }] }, { a: {} }),
      156026,
      /^data\.message\.a\.a$/,
    ],
    [
      'structs in each other',
      types({ A: [{ name: 'b', type: 'B' }], B: [{ name: 'a', type: 'A' }] }, { b: {} }),
      156026,
      /b\.a$/,
    ],
    [
      'a list that is none',
      types({ A: [{ name: 'x', type: 'bool[]' }] }, { x: true }),
      156026,
      /^data\.message\.x$/,
    ],
    ['a list of a wrong length', types({ A: [{ name: 'x', type: 'bool[2]' }] }, { x: [true] }), 156026, /x$/],
    [
      'too many values',
      types({ A: [{ name: 'x', type: 'bool[]' }] }, { x: Array(5_000).fill(true) }),
      156026,
      /x\[/,
    ],
    [
      'far too many values',
      types({ A: [{ name: 'x', type: 'bool[]' }] }, { x: Array(50_000).fill(true) }),
      156026,
      /data/,
    ],
  ])('with %s is refused', (_, data, code, location) => refused('typedData', { data }, code, location))

  it('of a tree, lists and a domain type that is written out is hashed as by others', async () => {
    const tree = {
      domain: { name: 'Trees', salt: `0x${'12'.repeat(32)}` },
      types: {
        EIP712Domain: [
          { name: 'name', type: 'string' },
          { name: 'salt', type: 'bytes32' },
        ],
        Tree: [
          { name: 'leaf', type: 'Leaf' },
          { name: 'branches', type: 'Tree[]' },
          { name: 'grid', type: 'int8[2][]' },
        ],
        Leaf: [
          { name: 'note', type: 'string' },
          { name: 'bytes', type: 'bytes' },
        ],
        Unused: [{ name: 'u', type: 'Unused[]' }],
      },
      primaryType: 'Tree',
      message: {
        leaf: { note: '☃', bytes: '0x' },
        branches: [{ leaf: { note: '', bytes: '0xff' }, branches: [], grid: [] }],
        grid: [
          [1, -2],
          [3, 4],
        ],
      },
    }
    const { body } = await post('typedData', { data: JSON.stringify(tree) })
    const shown = { ...tree, address, signature: body.data.signature }
    expect(await verifyTypedData(shown as never)).toBe(true)
    expect(await verifyTypedData({ ...shown, message: { ...tree.message, grid: [] } } as never)).toBe(false)
    expect(hashTypedData(tree as never)).toMatch(/^0x/)
  })
})

describe('a transaction', () => {
  const fields = {
    to: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
    value: '1',
    gas: '0x5208',
    maxFeePerGas: 2_000_000_000,
    maxPriorityFeePerGas: '1000000',
    nonce: 0,
    chainId: 84532,
  }
  const json = (changes: Record<string, unknown> = {}) => JSON.stringify({ ...fields, ...changes })
  const legacy = { maxFeePerGas: undefined, maxPriorityFeePerGas: undefined, gasPrice: '0x3b9aca00' }

  it.each([
    ['EIP-1559', {}],
    ['legacy', legacy],
    ['contract creation', { to: undefined, data: '0x6001', from: undefined }],
  ])('as JSON (%s) is signed for its sender, through the published client', async (_, changes) => {
    const { data } = await client.signTransaction({
      walletAddress: address,
      blockchain: 'EVM-TESTNET',
      transaction: json({ from: getAddress(address), ...changes }),
    })
    const serializedTransaction = data!.signedTransaction as Hex
    expect(await recoverTransactionAddress({ serializedTransaction } as never)).toBe(getAddress(address))
    expect(data!.txHash).toBe(keccak256(serializedTransaction))
    const { r, s } = parseTransaction(serializedTransaction)
    expect(data!.signature.slice(0, 130)).toBe(
      `0x${r!.slice(2).padStart(64, '0')}${s!.slice(2).padStart(64, '0')}`,
    )
  })

  it('as bytes is signed to be what was asked for, and a node takes it', async () => {
    const { transactionCount, to } = {
      transactionCount: Number(await harness.chain().rpc('eth_getTransactionCount', [address, 'latest'])),
      to: freshAddress() as Hex,
    }
    const rawTransaction = serializeTransaction({
      type: 'eip1559',
      chainId: 84532,
      nonce: transactionCount,
      to,
      value: 7n,
      gas: 21_000n,
      maxFeePerGas: 3_000_000_000n,
      maxPriorityFeePerGas: 1_000_000_000n,
    })
    const { body } = await post('transaction', { rawTransaction })
    expect(await harness.chain().rpc('eth_sendRawTransaction', [body.data.signedTransaction])).toBe(
      body.data.txHash,
    )
    await until(async () => (await harness.chain().oracle.balanceOf(to)) === 7n, 'it has arrived')
    await refused('transaction', { rawTransaction: body.data.signedTransaction }, 155804, /^rawTransaction$/)
    const { id } = await makeTransfer(world)
    const read = async () => (await world.call('GET', `/v1/w3s/transactions/${id}`)).transaction
    await until(async () => (await read()).state === 'COMPLETE', 'what is sent here goes on behind its nonce')
  })

  it('with a nonce that is in use here displaces what had it, which then goes on with another', async () => {
    const { rpc, setAutomine, mine, oracle } = harness.chain()
    const [ours, theirs] = [freshAddress() as Hex, freshAddress() as Hex]
    await setAutomine(false)
    const read = async (id: string) => (await world.call('GET', `/v1/w3s/transactions/${id}`)).transaction
    try {
      const { id } = await makeTransfer(world, '0.5', ours)
      await until(async () => (await read(id)).state === 'SENT', 'ours is sent')
      const nonce = Number(await rpc('eth_getTransactionCount', [address, 'latest']))
      const fees = { maxFeePerGas: '90000000000', maxPriorityFeePerGas: '30000000000' }
      const { body } = await post('transaction', { transaction: json({ to: theirs, nonce, ...fees }) })
      await rpc('eth_sendRawTransaction', [body.data.signedTransaction])
      await mine()
      await until(async () => (await read(id)).state !== 'SENT', 'ours is displaced')
      await setAutomine(true)
      await mine()
      await until(async () => (await read(id)).state === 'COMPLETE', 'ours goes on')
    } finally {
      await setAutomine(true)
    }
    await oracle.checkMovedOnce([{ to: ours, token: harness.chain().tokens.USDC, amountAtomic: 500_000n }])
    expect(await oracle.balanceOf(theirs)).toBe(1n)
  })

  const raw = (changes: object = {}) =>
    serializeTransaction({
      type: 'legacy',
      chainId: 84532,
      nonce: 1,
      gas: 21_000n,
      gasPrice: 1n,
      to: address,
      ...changes,
    } as never)

  it.each([
    ['neither', () => ({}), 155801, /transaction/],
    ['both', () => ({ transaction: json(), rawTransaction: raw() }), 155801, /transaction/],
    ['no JSON', () => ({ transaction: '{' }), 155805, /^transaction$/],
    ['a list', () => ({ transaction: '[]' }), 155801, /^transaction$/],
    ['no chain id', () => ({ transaction: json({ chainId: undefined }) }), 155808, /chainId$/],
    ['chain id null', () => ({ transaction: json({ chainId: null }) }), 155808, /chainId$/],
    ['a chain id that is none', () => ({ transaction: json({ chainId: '1e3' }) }), 155801, /chainId$/],
    ["another chain's id", () => ({ transaction: json({ chainId: 11155111 }) }), 155807, /^chainId$/],
    ['an unknown chain id', () => ({ transaction: json({ chainId: 31337 }) }), 155807, /^chainId$/],
    ['no nonce', () => ({ transaction: json({ nonce: undefined }) }), 155801, /nonce$/],
    [
      'a nonce beyond all',
      () => ({ transaction: json({ nonce: (2n ** 64n).toString() }) }),
      155801,
      /nonce$/,
    ],
    ['no gas', () => ({ transaction: json({ gas: undefined }) }), 155801, /gas$/],
    ['no fee', () => ({ transaction: json({ maxFeePerGas: undefined }) }), 155801, /maxFeePerGas$/],
    [
      'a tip above the cap',
      () => ({ transaction: json({ maxPriorityFeePerGas: '9000000000' }) }),
      155801,
      /PriorityFee/,
    ],
    ['both fee models', () => ({ transaction: json({ gasPrice: '1' }) }), 155801, /maxFeePerGas$/],
    ['a type that does not fit', () => ({ transaction: json({ type: '0x1' }) }), 155801, /type$/],
    ['an inexact number', () => ({ transaction: json({ value: 1e18 }) }), 155801, /value$/],
    ['a negative value', () => ({ transaction: json({ value: -1 }) }), 155801, /value$/],
    ['a bad address', () => ({ transaction: json({ to: 'vitalik.eth' }) }), 155801, /to$/],
    ['nothing to do', () => ({ transaction: json({ to: undefined }) }), 155801, /to$/],
    ['odd data', () => ({ transaction: json({ data: '0x1' }) }), 155801, /data$/],
    ['data twice', () => ({ transaction: json({ data: '0x11', input: '0x22' }) }), 155801, /input$/],
    [
      'what is not signed',
      () => ({ transaction: json({ authorizationList: [{}] }) }),
      155801,
      /authorizationList$/,
    ],
    ['an access list', () => ({ transaction: json({ accessList: [{ address }] }) }), 155801, /accessList$/],
    ["somebody else's sender", () => ({ transaction: json({ from: freshAddress() }) }), 155803, /from$/],
    ['too much data', () => ({ transaction: json({ data: `0x${'00'.repeat(140_000)}` }) }), 155806, /data$/],
    ['no hexadecimal', () => ({ rawTransaction: 'AQID' }), 155805, /^rawTransaction$/],
    ['no bytes', () => ({ rawTransaction: '0x' }), 155805, /^rawTransaction$/],
    ['no transaction', () => ({ rawTransaction: '0x02deadbeef' }), 155805, /^rawTransaction$/],
    ['bytes behind it', () => ({ rawTransaction: `${raw()}00` }), 155805, /^rawTransaction$/],
    ['too many bytes', () => ({ rawTransaction: `0x${'00'.repeat(140_000)}` }), 155806, /^rawTransaction$/],
    [
      'no chain id in bytes',
      () => ({ rawTransaction: raw({ chainId: undefined }) }),
      155808,
      /^rawTransaction$/,
    ],
    ["another chain's bytes", () => ({ rawTransaction: raw({ chainId: 1 }) }), 155807, /^chainId$/],
  ])('with %s is refused', (_, make, code, location) => refused('transaction', make(), code, location))

  it('is signed by a wallet of a virtual blockchain for listed test networks only', async () => {
    const { id } = (
      await world.call('PUT', `/v1/w3s/developer/wallets/${wallet.id}/blockchains/EVM-TESTNET`, {})
    ).wallet
    for (const chainId of [84532, 11155111, 5042002])
      expect((await post('transaction', { walletId: id, transaction: json({ chainId }) })).status).toBe(200)
    for (const chainId of [1, 8453, 31337])
      await refused('transaction', { walletId: id, transaction: json({ chainId }) }, 155807)
  })
})

describe('a wallet that only signs', () => {
  it.each([
    ['TEST', 'EVM-TESTNET', 84532, 8453],
    ['LIVE', 'EVM', 8453, 84532],
  ] as const)(
    'of a %s entity is made on %s and signs for its own networks',
    async (environment, name, own, other) => {
      const { apiKey, entitySecret } = await harness.newEntity(environment)
      const theirs = initiateDeveloperControlledWalletsClient({ apiKey, entitySecret, baseUrl: harness.url })
      const { id: walletSetId } = (await theirs.createWalletSet({ name: 'Signing' })).data!.walletSet!
      const blockchains = [name] as never
      const { wallets } = (await theirs.createWallets({ walletSetId, blockchains, count: 1 })).data!
      const signed = async (chainId: number) => {
        const transaction = JSON.stringify({
          to: freshAddress(),
          gas: 21_000,
          gasPrice: '1',
          nonce: 0,
          chainId,
        })
        return theirs.signTransaction({ walletId: wallets![0]!.id, transaction })
      }
      const serializedTransaction = (await signed(own)).data!.signedTransaction as Hex
      const signer = await recoverTransactionAddress({ serializedTransaction } as never)
      expect(signer.toLowerCase()).toBe(wallets![0]!.address)
      await expect(signed(other)).rejects.toMatchObject({ code: 155807 })
    },
  )
})

describe('whoever signs', () => {
  it('is found by an address that is known on any blockchain, under the virtual one', async () => {
    const known = await makeWallet(world)
    const { status, body } = await post('message', {
      ...byAddress,
      walletAddress: known.address,
      message: 'hi',
    })
    expect(status).toBe(200)
    const { signature } = body.data
    expect(await verifyMessage({ address: known.address as Hex, message: 'hi', signature })).toBe(true)
  })

  it.each([
    ['unknown', { ...byAddress, walletAddress: freshAddress() }, 156001],
    ['on another blockchain only', { ...byAddress, blockchain: 'ETH-SEPOLIA' }, 156001],
    ['on a main network', { ...byAddress, blockchain: 'EVM' }, 156006],
    ['of another family', { ...byAddress, blockchain: 'SOL-DEVNET' }, 155510],
    ['named twice', { walletAddress: freshAddress() }, 155244],
    ['not named', { walletId: undefined }, 2],
  ])('is refused when %s', async (_, fields, code) => {
    const walletAddress = 'walletAddress' in fields && fields.walletAddress === '' ? address : undefined
    await refused('message', { message: 'hi', ...fields, ...(walletAddress && { walletAddress }) }, code)
  })

  it("is refused when it is somebody else's, or frozen", async () => {
    const stranger = await harness.newEntity()
    const body = { walletId: wallet.id, message: 'hi', entitySecretCiphertext: await stranger.sealSecret() }
    const answer = await stranger.http('POST', '/v1/w3s/developer/sign/message', { body })
    expect([answer.status, answer.body.code]).toEqual([404, 156001])
    const frozen = await makeWallet(world)
    await harness.database.run(sql`update wallets set state = 'FROZEN' where id = ${frozen.id}`)
    await refused('message', { walletId: frozen.id, message: 'hi' }, 155501)
    await refused('message', { ...byAddress, walletAddress: frozen.address, message: 'hi' }, 155501)
  })

  it('shows a ciphertext once, and leaves an audit entry for each signature', async () => {
    const entitySecretCiphertext = await harness.sealSecret()
    const first = await post('message', { entitySecretCiphertext, message: 'once', memo: 'for the audit' })
    expect(first.status).toBe(200)
    await refused('message', { entitySecretCiphertext, message: 'once' }, 156004)
    const requestId = first.headers.get('x-request-id')
    const rows = await harness.database.all<{ action: string; resource: string }>(
      sql`select action, resource_id as resource from audit where request_id = ${requestId}`,
    )
    expect(rows).toEqual([{ action: 'wallet.signed', resource: wallet.id }])
  })
})
