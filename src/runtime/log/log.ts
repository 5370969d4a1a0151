import { type DestinationStream, type Logger, pino } from 'pino'

export type Log = Pick<Logger, 'debug' | 'info' | 'warn' | 'error' | 'child'>

/** Creates a log. It writes to standard error by default, since standard output carries the command's result. */
export function createLog(level: string, destination?: DestinationStream): Log {
  return pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      redact: {
        paths: ['*.authorization', '*.entitySecretCiphertext', '*.apiKey', '*.entitySecret'],
        censor: '[secret]',
      },
    },
    destination ?? pino.destination({ fd: 2, sync: true }),
  )
}
