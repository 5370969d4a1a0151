/** The published client of the network as the oracle of tests: it shares no code with the program. */
import {
  appendTransactionMessageInstructions,
  assertIsTransactionWithBlockhashLifetime,
  createSolanaRpc,
  createSolanaRpcSubscriptions,
  createTransactionMessage,
  generateKeyPairSigner,
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
import { getTransferSolInstruction } from '@solana-program/system'
import {
  findAssociatedTokenPda,
  getCreateAssociatedTokenIdempotentInstruction,
  getTransferCheckedInstruction,
  TOKEN_PROGRAM_ADDRESS,
} from '@solana-program/token'

type Endpoint = { url: string; socketUrl: string }

const commitment = 'confirmed'

/** Opens a client at a node, with an account that pays from outside. */
export async function openSolanaOracle({ url, socketUrl }: Endpoint) {
  const rpc = createSolanaRpc(url)
  const rpcSubscriptions = createSolanaRpcSubscriptions(socketUrl)
  const outsider = await generateKeyPairSigner()
  const sendAndConfirm = sendAndConfirmTransactionFactory({ rpc, rpcSubscriptions } as never)

  const accountOf = async (owner: string, mint: string) => {
    const [account] = await findAssociatedTokenPda({
      owner: owner as KitAddress,
      mint: mint as KitAddress,
      tokenProgram: TOKEN_PROGRAM_ADDRESS,
    })
    return account
  }

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
    /** Pays from outside; resolves with the signature once a block has it. Equal payments are told apart by a remark. */
    send: async (to: string, amountAtomic: bigint, mint?: string): Promise<string> =>
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
          : await tokenTransfer(outsider, to, amountAtomic, mint, accountOf)),
      ]),
    balanceOf: async (address: string, mint?: string): Promise<bigint> => {
      if (mint === undefined)
        return (await rpc.getBalance(address as KitAddress, { commitment }).send()).value
      const account = await accountOf(address, mint)
      const found = await rpc.getAccountInfo(account, { commitment, encoding: 'jsonParsed' }).send()
      if (found.value === null) return 0n
      const { value } = await rpc.getTokenAccountBalance(account, { commitment }).send()
      return BigInt(value.amount)
    },
    /** The sender is whoever lost coins; the first signer, where none did. */
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
  accountOf: (owner: string, mint: string) => Promise<KitAddress>,
): Promise<Instruction[]> {
  const ata = await accountOf(to, mint)
  return [
    getCreateAssociatedTokenIdempotentInstruction({
      payer: owner,
      owner: to as KitAddress,
      mint: mint as KitAddress,
      ata,
    }),
    getTransferCheckedInstruction({
      source: await accountOf(owner.address, mint),
      mint: mint as KitAddress,
      destination: ata,
      authority: owner,
      amount,
      decimals: 6,
    }),
  ]
}

type FoundTransaction = {
  meta: {
    preTokenBalances: readonly { owner: string; uiTokenAmount: { amount: string } }[]
    postTokenBalances: readonly { owner: string; uiTokenAmount: { amount: string } }[]
  }
  transaction: { message: { accountKeys: readonly string[]; header: { numRequiredSignatures: number } } }
}

/** The signer that does not pay the fee alone: the last one, whose payment it is. */
function senderIn({ transaction: { message } }: FoundTransaction): string {
  const { accountKeys, header } = message
  return accountKeys[header.numRequiredSignatures - 1]!
}
