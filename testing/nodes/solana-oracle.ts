/** The published client of the network as the oracle of tests: it shares no code with the program. */
import {
  appendTransactionMessageInstructions,
  assertIsTransactionWithBlockhashLifetime,
  createSolanaRpc,
  createSolanaRpcSubscriptions,
  createTransactionMessage,
  generateKeyPairSigner,
  getBase58Encoder,
  getSignatureFromTransaction,
  type Instruction,
  type KeyPairSigner,
  type Address as KitAddress,
  pipe,
  sendAndConfirmTransactionFactory,
  setTransactionMessageFeePayerSigner,
  setTransactionMessageLifetimeUsingBlockhash,
  signTransactionMessageWithSigners,
} from '@solana/kit'
import { getTransferSolInstruction, SYSTEM_PROGRAM_ADDRESS } from '@solana-program/system'
import {
  findAssociatedTokenPda,
  getCreateAssociatedTokenIdempotentInstruction,
  getTransferCheckedInstruction,
  TOKEN_PROGRAM_ADDRESS,
} from '@solana-program/token'

type Endpoint = { url: string; socketUrl: string }

const commitment = 'confirmed'

/** The address of the account in which an owner holds a token. */
export async function tokenAccountOf(
  owner: string,
  mint: string,
  tokenProgram: KitAddress = TOKEN_PROGRAM_ADDRESS,
): Promise<KitAddress> {
  const [account] = await findAssociatedTokenPda({
    owner: owner as KitAddress,
    mint: mint as KitAddress,
    tokenProgram,
  })
  return account
}

/** The balance of an address in lamports, or in a token. */
export async function solanaBalanceOf(url: string, address: string, mint?: string): Promise<bigint> {
  const rpc = createSolanaRpc(url)
  if (mint === undefined) return (await rpc.getBalance(address as KitAddress, { commitment }).send()).value
  const account = await tokenAccountOf(address, mint)
  const found = await rpc.getAccountInfo(account, { commitment, encoding: 'jsonParsed' }).send()
  if (found.value === null) return 0n
  const { value } = await rpc.getTokenAccountBalance(account, { commitment }).send()
  return BigInt(value.amount)
}

type ShownInstruction = { programId: string; accounts: readonly string[]; data: string }

/** The payment that an instruction makes; undefined of any other one. Payments of tokens go to an account of the recipient. */
function paymentIn({ programId, accounts, data }: ShownInstruction) {
  const bytes = Buffer.from(getBase58Encoder().encode(data))
  if (programId === SYSTEM_PROGRAM_ADDRESS && bytes.readUInt32LE(0) === 2)
    return { from: accounts[0]!, to: accounts[1]!, amountAtomic: bytes.readBigUInt64LE(4) }
  if (programId === TOKEN_PROGRAM_ADDRESS && bytes[0] === 12)
    return {
      from: accounts[3]!,
      account: accounts[2]!,
      token: accounts[1]!,
      amountAtomic: bytes.readBigUInt64LE(1),
    }
  return undefined
}

/** The payments that these addresses sent in all blocks, by the instructions of the transactions that succeeded. */
export async function solanaPayments(url: string, senders: readonly string[]) {
  const rpc = createSolanaRpc(url)
  const slots = await rpc.getBlocks(1n as never, undefined, { commitment }).send()
  const config = { commitment, encoding: 'jsonParsed', maxSupportedTransactionVersion: 0 } as const
  const blocks = await Promise.all(slots.map((slot) => rpc.getBlock(slot, config).send()))
  const succeeded = blocks.flatMap((block) => block!.transactions.filter(({ meta }) => meta?.err === null))
  return succeeded.flatMap(({ meta, transaction: { message, signatures } }) => {
    const ownerOf = (account: string) => {
      const place = message.accountKeys.findIndex(({ pubkey }) => pubkey === account)
      return String(meta!.postTokenBalances!.find(({ accountIndex }) => accountIndex === place)?.owner)
    }
    const shown = message.instructions as unknown as readonly ShownInstruction[]
    return shown.flatMap((instruction) => {
      const paid = paymentIn(instruction)
      if (!paid || !senders.includes(paid.from)) return []
      const { from, amountAtomic } = paid
      const txHash: string = signatures[0]!
      return 'account' in paid
        ? [{ from, to: ownerOf(paid.account), token: paid.token, amountAtomic, txHash }]
        : [{ from, to: paid.to, amountAtomic, txHash }]
    })
  })
}

/** Opens a client at a node, with an account that pays from outside. */
export async function openSolanaOracle({ url, socketUrl }: Endpoint) {
  const rpc = createSolanaRpc(url)
  const rpcSubscriptions = createSolanaRpcSubscriptions(socketUrl)
  const outsider = await generateKeyPairSigner()
  const sendAndConfirm = sendAndConfirmTransactionFactory({ rpc, rpcSubscriptions } as never)

  async function sendInstructions(instructions: readonly Instruction[]): Promise<string> {
    const { value } = await rpc.getLatestBlockhash({ commitment }).send()
    const message = pipe(
      createTransactionMessage({ version: 0 }),
      (each) => setTransactionMessageFeePayerSigner(outsider, each),
      (each) => setTransactionMessageLifetimeUsingBlockhash(value, each),
      (each) => appendTransactionMessageInstructions(instructions, each),
    )
    const transaction = await signTransactionMessageWithSigners(message)
    assertIsTransactionWithBlockhashLifetime(transaction)
    await sendAndConfirm(transaction as never, { commitment })
    return getSignatureFromTransaction(transaction)
  }

  return {
    outsider: outsider.address as string,
    signer: outsider,
    rpc,
    sendInstructions,
    /** Pays from outside; resolves with the signature once a block has it. Equal payments are told apart by a remark. */
    send: async (to: string, amountAtomic: bigint, mint?: string, decimals = 6): Promise<string> =>
      sendInstructions([
        remark(),
        ...(mint === undefined
          ? [
              getTransferSolInstruction({
                source: outsider,
                destination: to as KitAddress,
                amount: amountAtomic,
              }),
            ]
          : await tokenTransfer(outsider, to, amountAtomic, mint, decimals)),
      ]),
    balanceOf: (address: string, mint?: string) => solanaBalanceOf(url, address, mint),
    /** The sender is the last signer: the first one pays the fee. */
    transactionOf: async (signature: string) => {
      const found = await rpc
        .getTransaction(signature as never, {
          commitment,
          encoding: 'json',
          maxSupportedTransactionVersion: 0,
        })
        .send()
      if (!found?.meta) return undefined
      return { sender: senderIn(found as never), success: found.meta.err === null }
    },
  }
}

let remarks = 0

/** A remark that makes a transaction unlike any other. */
const remark = (): Instruction => ({
  programAddress: 'MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr' as KitAddress,
  data: new TextEncoder().encode(`payment ${remarks++}`),
})

async function tokenTransfer(
  owner: KeyPairSigner,
  to: string,
  amount: bigint,
  mint: string,
  decimals: number,
): Promise<Instruction[]> {
  const ata = await tokenAccountOf(to, mint)
  return [
    getCreateAssociatedTokenIdempotentInstruction({
      payer: owner,
      owner: to as KitAddress,
      mint: mint as KitAddress,
      ata,
    }),
    getTransferCheckedInstruction({
      source: await tokenAccountOf(owner.address, mint),
      mint: mint as KitAddress,
      destination: ata,
      authority: owner,
      amount,
      decimals,
    }),
  ]
}

type FoundTransaction = {
  transaction: { message: { accountKeys: readonly string[]; header: { numRequiredSignatures: number } } }
}

function senderIn({ transaction: { message } }: FoundTransaction): string {
  const { accountKeys, header } = message
  return accountKeys[header.numRequiredSignatures - 1]!
}
