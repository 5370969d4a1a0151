/** The published client of the network, unmodified: it sends, confirms, subscribes and reads through the local node. */
import {
  airdropFactory,
  appendTransactionMessageInstructions,
  address as asAddress,
  assertIsTransactionWithBlockhashLifetime,
  createSolanaRpc,
  createSolanaRpcSubscriptions,
  createTransactionMessage,
  generateKeyPairSigner,
  getBase64EncodedWireTransaction,
  getSignatureFromTransaction,
  type Instruction,
  isSolanaError,
  type KeyPairSigner,
  lamports,
  pipe,
  SOLANA_ERROR__JSON_RPC__SERVER_ERROR_SEND_TRANSACTION_PREFLIGHT_FAILURE,
  sendAndConfirmDurableNonceTransactionFactory,
  sendAndConfirmTransactionFactory,
  setTransactionMessageFeePayerSigner,
  setTransactionMessageLifetimeUsingBlockhash,
  setTransactionMessageLifetimeUsingDurableNonce,
  signTransactionMessageWithSigners,
} from '@solana/kit'
import {
  getSetComputeUnitLimitInstruction,
  getSetComputeUnitPriceInstruction,
} from '@solana-program/compute-budget'
import { getAddMemoInstruction } from '@solana-program/memo'
import {
  fetchNonce,
  getCreateAccountInstruction,
  getInitializeNonceAccountInstruction,
  getNonceSize,
  getTransferSolInstruction,
  SYSTEM_PROGRAM_ADDRESS,
} from '@solana-program/system'
import {
  fetchMint,
  fetchToken,
  findAssociatedTokenPda,
  getCreateAssociatedTokenIdempotentInstruction,
  getTransferCheckedInstruction,
  TOKEN_PROGRAM_ADDRESS,
} from '@solana-program/token'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openSolanaNode, type SolanaNode } from './index.ts'

const usdc = asAddress('4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU')
let node: SolanaNode
let rpc: ReturnType<typeof createSolanaRpc>
let rpcSubscriptions: ReturnType<typeof createSolanaRpcSubscriptions>
let payer: KeyPairSigner

beforeAll(async () => {
  node = await openSolanaNode({ chainId: 103, directory: undefined, clock: Date.now })
  rpc = createSolanaRpc(node.url)
  rpcSubscriptions = createSolanaRpcSubscriptions(node.socketUrl)
  payer = await generateKeyPairSigner()
  node.fund(payer.address, 10n ** 9n)
  node.mine()
})
afterAll(() => node?.close())

async function signed(instructions: readonly Instruction[], signer = payer) {
  const { value } = await rpc.getLatestBlockhash({ commitment: 'confirmed' }).send()
  const message = pipe(
    createTransactionMessage({ version: 0 }),
    (each) => setTransactionMessageFeePayerSigner(signer, each),
    (each) => setTransactionMessageLifetimeUsingBlockhash(value, each),
    (each) => appendTransactionMessageInstructions(instructions, each),
  )
  const transaction = await signTransactionMessageWithSigners(message)
  assertIsTransactionWithBlockhashLifetime(transaction)
  return transaction
}

const send = async (instructions: readonly Instruction[], signer = payer) => {
  const transaction = await signed(instructions, signer)
  await sendAndConfirmTransactionFactory({ rpc, rpcSubscriptions } as never)(transaction as never, {
    commitment: 'confirmed',
  })
  return getSignatureFromTransaction(transaction)
}

const balanceOf = async (address: KeyPairSigner['address']) =>
  (await rpc.getBalance(address, { commitment: 'confirmed' }).send()).value

describe('the published client', () => {
  it('asks for an airdrop, transfers and confirms', async () => {
    const to = await generateKeyPairSigner()
    const airdrop = airdropFactory({ rpc, rpcSubscriptions } as never)
    await airdrop({
      recipientAddress: to.address,
      lamports: lamports(10n ** 9n),
      commitment: 'confirmed',
    })
    const other = await generateKeyPairSigner()
    const before = await balanceOf(to.address)
    const signature = await send(
      [getTransferSolInstruction({ source: to, destination: other.address, amount: 890_880n })],
      to,
    )
    expect(await balanceOf(other.address)).toBe(890_880n)
    expect(await balanceOf(to.address)).toBe(before - 890_880n - 5_000n)
    const found = await rpc
      .getTransaction(signature, {
        commitment: 'confirmed',
        encoding: 'json',
        maxSupportedTransactionVersion: 0,
      })
      .send()
    expect(found).toMatchObject({ version: 0, meta: { err: null, fee: 5_000n, computeUnitsConsumed: 150n } })
    expect(found!.meta!.postBalances[1]).toBe(890_880n)
  })

  it('pays USDC to an account that the transfer creates, for a fee of its compute units and the rent', async () => {
    const to = await generateKeyPairSigner()
    node.fund(payer.address, 5_000_000n, usdc)
    node.mine()
    const [source] = await findAssociatedTokenPda({
      owner: payer.address,
      mint: usdc,
      tokenProgram: TOKEN_PROGRAM_ADDRESS,
    })
    const [ata] = await findAssociatedTokenPda({
      owner: to.address,
      mint: usdc,
      tokenProgram: TOKEN_PROGRAM_ADDRESS,
    })
    const before = await balanceOf(payer.address)
    const signature = await send([
      getSetComputeUnitLimitInstruction({ units: 50_000 }),
      getSetComputeUnitPriceInstruction({ microLamports: 1_001n }),
      getCreateAssociatedTokenIdempotentInstruction({ payer, owner: to.address, mint: usdc, ata }),
      getTransferCheckedInstruction({
        source,
        mint: usdc,
        destination: ata,
        authority: payer,
        amount: 2_500_000n,
        decimals: 6,
      }),
      getAddMemoInstruction({ memo: 'invoice 7' }),
    ])
    // 50,000 units at 1,001 millionths of a lamport are 50.05 lamports, rounded up.
    expect(await balanceOf(payer.address)).toBe(before - 5_000n - 51n - 2_039_280n)
    expect((await fetchToken(rpc, ata)).data).toMatchObject({
      amount: 2_500_000n,
      owner: to.address,
      mint: usdc,
    })
    expect((await fetchMint(rpc, usdc)).data).toMatchObject({ supply: 5_000_000n, decimals: 6 })
    const { value } = await rpc
      .getTokenAccountsByOwner(
        to.address,
        { mint: usdc },
        { encoding: 'jsonParsed', commitment: 'confirmed' },
      )
      .send()
    expect(value[0]).toMatchObject({
      pubkey: ata,
      account: {
        data: { parsed: { info: { tokenAmount: { uiAmountString: '2.5' }, state: 'initialized' } } },
      },
    })
    const found = await rpc
      .getTransaction(signature, {
        commitment: 'confirmed',
        encoding: 'jsonParsed',
        maxSupportedTransactionVersion: 0,
      })
      .send()
    expect(found!.meta!.postTokenBalances).toContainEqual(
      expect.objectContaining({
        mint: usdc,
        owner: to.address,
        uiTokenAmount: expect.objectContaining({ amount: '2500000' }),
      }),
    )
    expect(found!.meta!.logMessages).toContainEqual(expect.stringContaining('invoice 7'))
  })

  it('is told of slots, of an account and of a signature', async () => {
    const to = await generateKeyPairSigner()
    const ending = new AbortController()
    const options = { abortSignal: ending.signal }
    const [slots, accounts] = await Promise.all([
      rpcSubscriptions.slotNotifications().subscribe(options),
      rpcSubscriptions
        .accountNotifications(to.address, { commitment: 'confirmed', encoding: 'base64' })
        .subscribe(options),
    ])
    const first = async <Item>(items: AsyncIterable<Item>) => {
      for await (const item of items) return item
      return undefined
    }
    const told = Promise.all([first(slots), first(accounts)])
    const head = node.ledger().blocks.at(-1)!.slot
    node.fund(to.address, 1_000_000n)
    const [slot, account] = await told
    expect(slot).toMatchObject({ parent: BigInt(head), slot: BigInt(head + 1) })
    expect(account).toMatchObject({ value: { lamports: 1_000_000n, owner: SYSTEM_PROGRAM_ADDRESS } })
    ending.abort()
  })

  it('learns before it sends why a transaction cannot be', async () => {
    const poor = await generateKeyPairSigner()
    const transfer = getTransferSolInstruction({ source: payer, destination: poor.address, amount: 890_879n })
    const failure = async (work: Promise<unknown>) => {
      const error = await work.then(
        () => undefined,
        (thrown: unknown) => thrown,
      )
      if (!isSolanaError(error, SOLANA_ERROR__JSON_RPC__SERVER_ERROR_SEND_TRANSACTION_PREFLIGHT_FAILURE))
        throw error
      return String((error.cause as Error)?.message ?? error.message)
    }
    expect(await failure(send([transfer]))).toContain('insufficient funds for rent')
    expect(
      await failure(
        send([getTransferSolInstruction({ source: poor, destination: payer.address, amount: 1n })], poor),
      ),
    ).toContain('Attempt to debit an account but found no record of a prior credit')
  })

  it('sends with a durable nonce, which a failed transaction advances too', async () => {
    const nonce = await generateKeyPairSigner()
    const space = BigInt(getNonceSize())
    const rent = await rpc.getMinimumBalanceForRentExemption(space).send()
    expect(rent).toBe(1_447_680n)
    await send([
      getCreateAccountInstruction({
        payer,
        newAccount: nonce,
        lamports: rent,
        space,
        programAddress: SYSTEM_PROGRAM_ADDRESS,
      }),
      getInitializeNonceAccountInstruction({ nonceAccount: nonce.address, nonceAuthority: payer.address }),
    ])
    const to = await generateKeyPairSigner()
    const valueNow = async () => (await fetchNonce(rpc, nonce.address)).data.blockhash
    const withNonce = async (amount: bigint) =>
      signTransactionMessageWithSigners(
        pipe(
          createTransactionMessage({ version: 0 }),
          (each) => setTransactionMessageFeePayerSigner(payer, each),
          (each) =>
            appendTransactionMessageInstructions(
              [getTransferSolInstruction({ source: payer, destination: to.address, amount })],
              each,
            ),
          (each) =>
            setTransactionMessageLifetimeUsingDurableNonce(
              { nonce: nonceValue, nonceAccountAddress: nonce.address, nonceAuthorityAddress: payer.address },
              each,
            ),
        ),
      )
    node.mine()
    let nonceValue = (await valueNow()) as never
    const transaction = await withNonce(1_000_000n)
    await sendAndConfirmDurableNonceTransactionFactory({ rpc, rpcSubscriptions } as never)(
      transaction as never,
      {
        commitment: 'confirmed',
      },
    )
    expect(await balanceOf(to.address)).toBe(1_000_000n)
    const next = await valueNow()
    expect(next).not.toBe(nonceValue)
    nonceValue = next as never
    const failing = await withNonce(10n ** 15n)
    node.mine()
    await rpc
      .sendTransaction(getBase64EncodedWireTransaction(failing), { encoding: 'base64', skipPreflight: true })
      .send()
    node.mine()
    const statuses = await rpc.getSignatureStatuses([getSignatureFromTransaction(failing)]).send()
    expect(statuses.value[0]!.err).toMatchObject({ InstructionError: [1n, { Custom: 1n }] })
    expect(await valueNow()).not.toBe(next)
  })
})
