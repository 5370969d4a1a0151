import type { Address } from '#chains/addresses/types'
import type { ContractChain } from '#chains/facets/optional'
import type { Ctx } from '#engines/ctx'
import type { Config } from '#runtime/config'
import { createCaller } from '#runtime/outbound/call'
import { createLanes } from '#runtime/scheduling/fair-concurrency'
import { oncePer } from '#runtime/scheduling/memoize'
import type { SourceFile } from './describe-abi.ts'
import {
  metadataBytesMax,
  sourceFilesMax,
  sourcesBytesMax,
  type VerifiedSources,
} from './verified-sources.ts'

const timeoutMs = 5_000
const answerBytesMax = metadataBytesMax + sourcesBytesMax

/** The operator chose the server, which may be in the network of this one. */
const call = createCaller('private')
/** Questions to the server at once; no entity keeps another one from asking. */
const lanesIn = oncePer((_config: Config) =>
  createLanes({
    count: 8,
    leavesRoom: true,
    waitingMax: 100,
    waitMs: timeoutMs,
    crowded: () => new Error('too many imports ask it at once'),
  }),
)

type Served = { abi?: unknown; sources?: Record<string, { content?: unknown } | null> | null }

/**
 * The sources that the operator's server of verified sources has, in version 2 of the interface of Sourcify. `undefined`
 * without a server, or when it has none. Throws when it gives no usable answer.
 */
export async function servedSources(
  ctx: Ctx,
  chain: ContractChain,
  address: Address,
): Promise<VerifiedSources | undefined> {
  const { contractSourcesUrl: base } = ctx.config
  if (base === undefined) return undefined
  const name = chain.contracts.checksumAddress(address)
  const { status, text, isWhole } = await lanesIn(ctx.config).run(ctx.entity.id, () =>
    call({
      method: 'GET',
      url: `${base}/v2/contract/${chain.network.chainId}/${name}?fields=abi,sources`,
      headers: { Accept: 'application/json' },
      timeoutMs,
      keptBytes: answerBytesMax,
    }),
  )
  if (status === 404) return undefined
  if (status !== 200) throw new Error(`it answered ${status}`)
  if (!isWhole) throw new Error(`its answer breaks off, or has more than ${answerBytesMax} bytes`)
  const { abi, sources } = JSON.parse(text) as Served
  if (abi == null) return undefined
  const abiJson = JSON.stringify(abi)
  return {
    abiJson,
    abi: chain.contracts.readAbi(abiJson),
    sourceCode: filesOf(sources ?? {}),
  }
}

/** The source files; none where there is more than a contract keeps. */
function filesOf(sources: NonNullable<Served['sources']>): SourceFile[] {
  const files = Object.entries(sources).flatMap(([fileName, file]) =>
    typeof file?.content === 'string'
      ? [{ fileName: storable(fileName), fileContent: storable(file.content) }]
      : [],
  )
  const bytes = files.reduce((sum, { fileContent }) => sum + Buffer.byteLength(fileContent), 0)
  return files.length > sourceFilesMax || bytes > sourcesBytesMax ? [] : files
}

/** A text as the database can store it. */
const storable = (text: string) => text.replaceAll('\0', '').replaceAll(/\p{Cs}/gu, '\ufffd')
