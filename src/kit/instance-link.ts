import { type IncomingMessage, request } from 'node:http'
import type { InstanceAnswer, InstanceRefusal, InstanceRequest } from './protocol.ts'

/** The hold on one instance: while it is open, the instance runs. */
export type InstanceLink = {
  answer: InstanceAnswer
  /** Whether the server has ended, or dropped the instance, without being asked. */
  isLost(): boolean
  /** Drops the instance; resolves when it is gone. */
  close(): Promise<void>
}

/** Asks a server for an instance, and resolves when it is ready. */
export async function openInstance(server: string, wanted: InstanceRequest): Promise<InstanceLink> {
  const response = await post(`${server}/instances`, wanted)
  const answer = await firstPart<InstanceAnswer>(response)
  let isOpen = true
  let isWanted = true
  response.on('close', () => {
    isOpen = false
  })
  response.on('error', () => undefined).resume()
  // A test process may end without having stopped its instance: the connection ends with it.
  response.socket.unref()
  return {
    answer,
    isLost: () => isWanted && !isOpen,
    close: async () => {
      if (!isWanted) return
      isWanted = false
      // A server that is gone took its instances with it.
      await fetch(server + answer.path, { method: 'DELETE' }).catch(() => undefined)
      response.destroy()
    },
  }
}

async function post(url: string, body: object): Promise<IncomingMessage> {
  const response = await new Promise<IncomingMessage>((resolve, reject) =>
    request(url, { method: 'POST', agent: false }, resolve)
      .on('error', () => reject(new Error(lostServer)))
      .end(JSON.stringify(body)),
  )
  if (response.statusCode === 201) return response
  const { message } = await firstPart<InstanceRefusal>(response)
  throw new Error(`startSandbox: ${message}`)
}

/** The object with which an answer begins: a whole line, or all that there is. */
async function firstPart<Part>(response: IncomingMessage): Promise<Part> {
  response.setEncoding('utf8')
  const text = await new Promise<string>((resolve, reject) => {
    let read = ''
    response.on('data', (part: string) => {
      read += part
      if (read.includes('\n')) resolve(read)
    })
    response.on('end', () => resolve(read)).on('error', () => reject(new Error(lostServer)))
  })
  try {
    return JSON.parse(text) as Part
  } catch {
    throw new Error(lostServer)
  }
}

export const lostServer =
  'the server of the sandboxes of this test run has ended: it runs as long as the runner that started it; what it said last is in the output of that'
