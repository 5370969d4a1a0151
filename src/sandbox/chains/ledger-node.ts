/** A node whose ledger this process keeps: its files, the blocks that it makes, and the addresses that serve it. */
import type { BlockMode } from './ledger-journal.ts'
import { portFileIn } from './port-file.ts'

/** A ledger whose files are open, and which makes blocks until it ends. */
export type OpenedLedger<Ledger> = {
  ledger: Ledger
  mode(): BlockMode
  /** Sets the mode, which outlives a restart of a kept ledger. */
  setMode(mode: BlockMode): void
  /** Makes no more blocks. */
  stop(): void
  /** Closes the files. */
  close(): void
}

type HostedEndpoint = { port: number; close(): Promise<void> }

type HostOptions<Ledger, Endpoint extends HostedEndpoint> = {
  /** Opens the ledger from its files. */
  open(): OpenedLedger<Ledger>
  /** Serves it on a port, the preferred one if it is free. The function resolves to the ledger once its files are open. */
  serve(ledger: () => Promise<Ledger>, port: number | undefined): Promise<Endpoint>
  /** The directory of the files; undefined for a ledger that ends with its process. */
  directory: string | undefined
  /** The port that it prefers; that of its previous run, or any, when left out. */
  port: number | undefined
}

/** The acts of every such node; its family adds others. */
export type HostedLedger<Ledger, Endpoint> = {
  /** The ledger as it is now; a halt replaces it. */
  ledger(): Ledger
  blocks(): BlockMode
  /** Sets the mode, which outlives a restart of a kept ledger, as the time does. */
  setBlocks(mode: BlockMode): void
  /** A further address of the same ledger, with faults of its own. */
  openEndpoint(port?: number): Promise<Endpoint>
  /** Closes the files, so that others can take their place. Requests wait until the returned function has opened those. */
  halt(): () => Promise<void>
  close(): Promise<void>
}

/** Opens a ledger and serves it. Returns its first address, and what its owner does to it. */
export async function hostLedger<Ledger, Endpoint extends HostedEndpoint>(
  options: HostOptions<Ledger, Endpoint>,
): Promise<{ first: Endpoint; hosted: HostedLedger<Ledger, Endpoint> }> {
  const { directory, port } = options
  let current = options.open()
  let ready = Promise.resolve()
  const endpoints: Endpoint[] = []
  const openEndpoint = async (wanted?: number) => {
    const endpoint = await options.serve(() => ready.then(() => current.ledger), wanted)
    endpoints.push(endpoint)
    return endpoint
  }
  const end = () => {
    current.stop()
    current.close()
  }
  const close = async () => {
    current.stop()
    await Promise.all(endpoints.map((endpoint) => endpoint.close()))
    current.close()
  }
  const halt = () => {
    let resume: (opened: Promise<void>) => void = () => {}
    ready = new Promise((resolve) => {
      resume = resolve
    })
    ready.catch(() => undefined)
    end()
    return async () => {
      const opening = Promise.resolve().then(() => {
        current = options.open()
      })
      resume(opening)
      await opening
    }
  }
  try {
    const remembered = directory === undefined ? undefined : portFileIn(directory)
    const first = await openEndpoint(port ?? remembered?.read())
    remembered?.write(first.port)
    const hosted = {
      ledger: () => current.ledger,
      blocks: () => current.mode(),
      setBlocks: (mode: BlockMode) => current.setMode(mode),
      openEndpoint,
      halt,
      close,
    }
    return { first, hosted }
  } catch (error) {
    await close()
    throw error
  }
}
