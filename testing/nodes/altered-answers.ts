import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/** An address of a server that serves the answers of another one, changed. */
export type AlteredAnswers = {
  url: string
  /** Changes the text of each answer from now on; without an argument none. */
  alter(change?: (text: string) => string): void
  close(): Promise<void>
}

/** Opens a proxy before the server at `origin`, which answers as that one does until `alter`. */
export async function openAlteredAnswers(origin: string): Promise<AlteredAnswers> {
  let alter = (text: string) => text
  const server = createServer(async (incoming, outgoing) => {
    try {
      const chunks: Buffer[] = []
      for await (const chunk of incoming) chunks.push(chunk as Buffer)
      const { method = 'GET', url = '/', headers } = incoming
      const type = headers['content-type']
      const answer = await fetch(origin + url, {
        method,
        headers: { ...(type && { 'content-type': type }) },
        ...(chunks.length > 0 && { body: new Uint8Array(Buffer.concat(chunks)) }),
      })
      const text = alter(await answer.text())
      const {
        'content-length': _,
        'transfer-encoding': __,
        connection: ___,
        ...kept
      } = Object.fromEntries(answer.headers)
      outgoing.writeHead(answer.status, kept).end(text)
    } catch {
      outgoing.destroy()
    }
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    alter: (change = (text) => text) => {
      alter = change
    },
    close: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
