import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Hex } from '#lib/hex'
import { Ledger } from './ledger.ts'

const methods: Record<string, (ledger: Ledger, ...parameters: never[]) => unknown> = {
  head: (ledger) => ledger.head(),
  block: (ledger, key: number | Hex) => ledger.blockOf(key),
  place: (ledger, address: string) => ledger.placeOf(address),
  submit: (ledger, raw: Hex) => ledger.submit(raw),
  balance: (ledger, address: string, token: string | undefined, hash: Hex | undefined) =>
    ledger.balanceAt(hash ?? undefined, address, token ?? undefined)?.toString(),
}

/** A node of a ledger: JSON over HTTP. While it is `away`, it answers no request. */
export type LedgerNode = { url: string; ledger: Ledger; away: boolean; close(): Promise<void> }

export async function openLedgerNode(): Promise<LedgerNode> {
  const ledger = new Ledger()
  const server = createServer(async (request, response) => {
    if (node.away) return void request.socket.destroy()
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const { method, parameters } = JSON.parse(Buffer.concat(chunks).toString('utf8')) as {
      method: string
      parameters: never[]
    }
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify({ answer: methods[method]!(ledger, ...parameters) ?? null }))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const node: LedgerNode = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    ledger,
    away: false,
    close: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
  return node
}
