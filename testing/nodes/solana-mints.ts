/** Tokens that anyone creates on a local network, by the published clients of its programs. */
import {
  type Address,
  address,
  generateKeyPairSigner,
  getAddressEncoder,
  getProgramDerivedAddress,
  getU32Encoder,
  type Instruction,
} from '@solana/kit'
import { getCreateAccountInstruction } from '@solana-program/system'
import {
  AuthorityType,
  getCreateAssociatedTokenIdempotentInstruction,
  getInitializeAccount3Instruction,
  getInitializeMint2Instruction,
  getMintToInstruction,
  getSetAuthorityInstruction,
  getTransferCheckedInstruction,
  TOKEN_PROGRAM_ADDRESS,
} from '@solana-program/token'
import { type openSolanaOracle, tokenAccountOf } from './solana-oracle.ts'

type Oracle = Awaited<ReturnType<typeof openSolanaOracle>>

const newerTokenProgram = address('TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb')
const metadataProgram = address('metaqbxxUerdq28cj1RbAWkQTm3ybzjb6a8bt518x1s')
const [mintBytes, accountBytes, rent] = [82, 165, 3_000_000n]

/** `isFixed`: no key makes more of it. */
type MintTerms = { decimals: number; supplyAtomic: bigint; isFixed?: boolean; program?: Address }

/** Makes a token whose whole supply the signer has. */
async function createMint(
  { signer, sendInstructions }: Oracle,
  { decimals, supplyAtomic, isFixed, program: programAddress = TOKEN_PROGRAM_ADDRESS }: MintTerms,
): Promise<string> {
  const mint = await generateKeyPairSigner()
  const ata = await tokenAccountOf(signer.address, mint.address, programAddress)
  const [by, within] = [{ mint: mint.address }, { programAddress }]
  const owner = signer.address
  const asOwner = { owned: mint.address, owner: signer, newAuthority: null }
  const ended = getSetAuthorityInstruction({ ...asOwner, authorityType: AuthorityType.MintTokens }, within)
  await sendInstructions([
    getCreateAccountInstruction({
      payer: signer,
      newAccount: mint,
      lamports: rent,
      space: mintBytes,
      programAddress,
    }),
    getInitializeMint2Instruction({ ...by, decimals, mintAuthority: owner }, within),
    getCreateAssociatedTokenIdempotentInstruction({
      payer: signer,
      owner,
      ...by,
      ata,
      tokenProgram: programAddress,
    }),
    getMintToInstruction({ ...by, token: ata, mintAuthority: signer, amount: supplyAtomic }, within),
    ...(isFixed ? [ended] : []),
  ] as Instruction[])
  return mint.address
}

type Paid = { to: string; mint: string; amount: bigint; decimals: number }

/** Pays a token to a further account of its owner, which no wallet looks at. */
async function payAside(
  { signer, sendInstructions }: Oracle,
  { to, mint: of, amount, decimals }: Paid,
): Promise<string> {
  const [mint, further] = [address(of), await generateKeyPairSigner()]
  const [account, source] = [further.address, await tokenAccountOf(signer.address, of)]
  return sendInstructions([
    getCreateAccountInstruction({
      payer: signer,
      newAccount: further,
      lamports: rent,
      space: accountBytes,
      programAddress: TOKEN_PROGRAM_ADDRESS,
    }),
    getInitializeAccount3Instruction({ account, mint, owner: address(to) }),
    getTransferCheckedInstruction({
      source,
      mint,
      destination: account,
      authority: signer,
      amount,
      decimals,
    }),
  ] as Instruction[])
}

/** Creates tokens whose whole supply an outsider has, and pays them to addresses. */
export function mintsOf(oracle: Oracle) {
  const { rpc } = oracle
  return {
    create: (terms: MintTerms) => createMint(oracle, terms),
    /** A token of the newer program, whose rules are others. */
    createNewer: () => createMint(oracle, { decimals: 2, supplyAtomic: 100n, program: newerTokenProgram }),
    pay: ({ to, mint, amount, decimals }: Paid) => oracle.send(to, amount, mint, decimals),
    payAside: (paid: Paid) => payAside(oracle, paid),
    /** The accounts that describe a mint as a node tells of them whose network has the metadata. */
    async described(terms: MetadataTerms) {
      const asked = await rpc
        .getAccountInfo(address(terms.mint), { encoding: 'base64', commitment: 'confirmed' })
        .send()
      const { lamports, ...mint } = asked.value!
      const shown = { ...mint, lamports: Number(lamports), rentEpoch: 0, space: Number(mint.space) }
      const context = { apiVersion: '3.1.0', slot: Number(asked.context.slot) }
      return {
        addresses: [terms.mint, await metadataAddressOf(terms.mint)],
        answer: { context, value: [shown, metadataAccount(terms)] },
      }
    },
  }
}

const bytesOf = (of: string) => Buffer.from(getAddressEncoder().encode(address(of)))
const lengthBytes = (length: number) => Buffer.from(getU32Encoder().encode(length))

/** The address at which the metadata program of Metaplex describes a mint. */
async function metadataAddressOf(mint: string): Promise<string> {
  const seeds = [new TextEncoder().encode('metadata'), bytesOf(metadataProgram), bytesOf(mint)]
  const [derived] = await getProgramDerivedAddress({ programAddress: metadataProgram, seeds })
  return derived
}

type MetadataTerms = { mint: string; name: string; symbol: string; uri: string; standard: number }

/**
 * An account of metadata as its program writes it, and as a node tells of it: texts are filled with zeros, and a creator stands before
 * the standard. The local network does not run that program.
 */
function metadataAccount({ mint, name, symbol, uri, standard }: MetadataTerms) {
  const text = (value: string, bytes: number) => {
    const filled = Buffer.alloc(bytes)
    filled.write(value)
    return Buffer.concat([lengthBytes(bytes), filled])
  }
  const data = Buffer.concat([
    Buffer.of(4),
    bytesOf(metadataProgram),
    bytesOf(mint),
    text(name, 32),
    text(symbol, 10),
    text(uri, 200),
    // Royalties; then one creator: verified, with the whole share.
    Buffer.of(0, 0),
    Buffer.concat([Buffer.of(1), lengthBytes(1), bytesOf(metadataProgram), Buffer.of(1, 100)]),
    // Sold before, unchangeable, the number of its edition, and its standard.
    Buffer.of(1, 0, 1, 254, 1, standard),
  ])
  return {
    data: [data.toString('base64'), 'base64'],
    executable: false,
    lamports: 5_616_720,
    owner: metadataProgram,
    rentEpoch: 0,
    space: data.length,
  }
}
