import Type from 'typebox'

export const pongSchema = Type.Object({ message: Type.Enum(['pong']) })

export const configurationSchema = Type.Object({
  payments: Type.Object({
    masterWalletId: Type.String({
      description: 'The wallet that payments are credited to.',
      examples: ['1000123456789012'],
    }),
  }),
})
